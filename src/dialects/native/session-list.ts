import { hash } from 'node:crypto'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createAlarms, type Alarms } from '../../core/alarm.ts'
import type { Engine, Subscription } from '../../core/api.ts'
import { attentionOf, attentionUntil, type Attention } from '../../core/attention.ts'
import { asCorralError, CorralError } from '../../core/error.ts'
import { NO_SESSION, type EventType, type LoggedEvent } from '../../core/event.ts'
import { NO_MARKS } from '../../core/marks.ts'
import { openApprovals, type Session } from '../../core/session.ts'
import { viewRow } from './row.ts'
import { EVENT_TYPES, type Counts, type SessionRow } from './wire.ts'

/** At most ten times a second. */
const PACE_MS = 100
/** Sessions that are read without a break for others. */
const PAGE = 250

/** These change no row; all others may. */
const UNSEEN: ReadonlySet<EventType> = new Set<EventType>([
  'message.delta',
  'turn.accepted',
  'agent.other',
  'agent.notice',
  'agent.plan',
  'agent.commands',
  'agent.limits',
  'approval.delivered',
  'session.drafted',
])
const TYPES = (Object.keys(EVENT_TYPES) as EventType[]).filter((type) => !UNSEEN.has(type))

/** What has changed since the last time, for all who watch the same sessions. */
export interface ListChange {
  /** All events up to here are in it. */
  readonly seq: number
  readonly changed: readonly { readonly id: string; readonly json: string }[]
  /** They are gone, or not among these sessions any more. */
  readonly removed: readonly string[]
  readonly counts: Counts
}

export interface ListSnapshot {
  readonly seq: number
  /** As JSON; the last active first. */
  readonly rows: readonly string[]
  readonly counts: Counts
  readonly more: boolean
}

export interface Watcher {
  /** The sessions that it watches: the archived ones, or the others. */
  readonly archived: boolean
  tell(change: ListChange): void
  /** The log cannot be read: nothing more comes. */
  broken(): void
}

interface ListDeps {
  engine: Pick<Engine, 'sessions' | 'turns' | 'projects' | 'events'>
  now(): number
  onFault(error: unknown): void
}

/** The list of sessions as it changes: computed once for all who watch, and not at all while nobody does. */
export interface SessionList {
  /** Tells it all that changes from now on, and resolves with the list as it is. */
  enter(watcher: Watcher, limit: number): Promise<ListSnapshot>
  leave(watcher: Watcher): void
  /** These sessions as they are now, for somebody who has missed changes. */
  lookUp(watcher: Watcher, ids: readonly string[]): ListChange
}

export function createSessionList(deps: ListDeps): SessionList {
  let live: LiveList | null = null
  return {
    async enter(watcher, limit) {
      const list = (live ??= new LiveList(deps, () => (live = null)))
      list.watchers.add(watcher)
      try {
        await list.ready
        return await list.snapshot(watcher, limit)
      } catch (error) {
        list.leave(watcher)
        throw error
      }
    },
    leave: (watcher) => live?.leave(watcher),
    lookUp(watcher, ids) {
      if (!live) throw new TypeError('a watcher that nobody knows')
      return live.lookUp(watcher, ids)
    },
  }
}

/** What is known of a session between two looks at it: little, there may be many. */
interface Entry {
  attention: Attention
  approvals: number
  archived: boolean
  pinned: boolean
  activeAt: number
  /** Of its row as it was told last; null: it was not. */
  print: string | null
}

/** While somebody watches. */
class LiveList {
  readonly watchers = new Set<Watcher>()
  /** When every session has been looked at once. */
  readonly ready: Promise<void>
  readonly #deps: ListDeps
  readonly #gone: () => void
  readonly #entries = new Map<string, Entry>()
  readonly #counts = { archived: noCounts(), others: noCounts() }
  readonly #touched = new Set<string>()
  /** Of directories. */
  readonly #projects = new Map<string, SessionRow['project']>()
  readonly #alarms: Alarms
  readonly #subscription: Subscription
  #timer: NodeJS.Timeout | null = null
  #toldAt = -Infinity
  #closed = false

  constructor(deps: ListDeps, gone: () => void) {
    const { engine } = deps
    this.#deps = deps
    this.#gone = gone
    this.#alarms = createAlarms(deps.now, (sessionId) => this.#touch(sessionId))
    this.#subscription = engine.events.subscribe(
      { after: engine.events.head, types: TYPES },
      (events) => this.#hear(events),
      () => this.#break(),
    )
    this.ready = this.#lookAtAll()
    this.ready.catch(() => this.#break())
  }

  leave(watcher: Watcher): void {
    this.watchers.delete(watcher)
    if (this.watchers.size === 0) this.#close()
  }

  async snapshot(watcher: Watcher, limit: number): Promise<ListSnapshot> {
    for (let left = this.#touched.size; left > 0; left -= PAGE) {
      this.#flush()
      await nextTick()
    }
    this.#mustKnow(watcher)
    const { archived } = watcher
    const { head: seq } = this.#deps.engine.events
    const counts = { ...this.#countsOf(archived) }
    const all = [...this.#entries].filter(([, entry]) => entry.archived === archived)
    const ids = foremost(all, limit)
    const rows: string[] = []
    for (const [index, id] of ids.entries()) {
      const json = this.#readApart(id, archived)
      if (json !== null) rows.push(json)
      if (index % PAGE !== PAGE - 1) continue
      await nextTick()
      this.#mustKnow(watcher)
    }
    return { seq, rows, counts, more: all.length > ids.length }
  }

  /** It may have left meanwhile, or the log cannot be read. */
  #mustKnow(watcher: Watcher): void {
    if (!this.watchers.has(watcher)) throw new CorralError('storage', 'The list of sessions cannot be read')
  }

  lookUp({ archived }: Watcher, ids: readonly string[]): ListChange {
    const { head: seq } = this.#deps.engine.events
    const changed: { id: string; json: string }[] = []
    const removed: string[] = []
    for (const id of ids) {
      const json = this.#readApart(id, archived)
      if (json === null) removed.push(id)
      else changed.push({ id, json })
    }
    return { seq, changed, removed, counts: { ...this.#countsOf(archived) } }
  }

  /**
   * A row for one watcher only, which may be newer than what the others know: so the next look at the session is told, whatever
   * it shows.
   */
  #readApart(id: string, archived: boolean): string | null {
    const session = this.#find(id)
    const entry = this.#entries.get(id)
    if (entry) entry.print = null
    return session?.archived === archived ? JSON.stringify(this.#row(session)) : null
  }

  async #lookAtAll(): Promise<void> {
    const { sessions } = this.#deps.engine
    let before: Session | null = null
    while (!this.#closed) {
      const page: Session[] = sessions.list({ before, limit: PAGE })
      for (const session of page) this.#note(session, this.#entries.get(session.id)?.print ?? null)
      before = page.at(-1) ?? null
      if (page.length < PAGE) return
      await nextTick()
    }
  }

  #hear(events: readonly LoggedEvent[]): void {
    for (const { sessionId, type } of events) {
      if (sessionId !== NO_SESSION) this.#touch(sessionId)
      else if (type.startsWith('project.')) this.#touchAll()
    }
  }

  #touchAll(): void {
    this.#projects.clear()
    for (const id of this.#entries.keys()) this.#touch(id)
  }

  #touch(sessionId: string): void {
    this.#touched.add(sessionId)
    if (this.#timer || this.#closed) return
    const wait = Math.max(0, this.#toldAt + PACE_MS - performance.now())
    this.#timer = setTimeout(() => this.#flush(), wait).unref()
  }

  /** Looks at what was touched, and tells everybody what is different. */
  #flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#closed) return
    this.#toldAt = performance.now()
    try {
      this.#tell()
    } catch (error) {
      this.#deps.onFault(error)
      this.#break()
    }
    const [next] = this.#touched
    if (next !== undefined) this.#touch(next)
  }

  #tell(): void {
    const { head: seq } = this.#deps.engine.events
    const looks = [...this.#touched].slice(0, PAGE).map((id) => {
      this.#touched.delete(id)
      return this.#look(id)
    })
    for (const archived of [false, true]) {
      const changed = looks.flatMap(({ id, json, now }) =>
        json !== null && now === archived ? [{ id, json }] : [],
      )
      const removed = looks.flatMap(({ id, was, now }) => (was === archived && now !== archived ? [id] : []))
      if (changed.length + removed.length === 0) continue
      const change = { seq, changed, removed, counts: { ...this.#countsOf(archived) } }
      for (const watcher of this.watchers) if (watcher.archived === archived) watcher.tell(change)
    }
  }

  /** Whether it was archived and is; null: it was, or is, not there. */
  #look(id: string): { id: string; json: string | null; was: boolean | null; now: boolean | null } {
    const before = this.#entries.get(id)
    const was = before?.archived ?? null
    const session = this.#find(id)
    if (!session) {
      if (before) this.#forget(id, before)
      return { id, json: null, was, now: null }
    }
    const json = JSON.stringify(this.#row(session))
    const print = hash('sha1', json, 'base64')
    this.#note(session, print)
    return { id, json: print === before?.print ? null : json, was, now: session.archived }
  }

  #find(id: string): Session | null {
    try {
      return this.#deps.engine.sessions.get(id)
    } catch (error) {
      if (asCorralError(error).code === 'session_not_found') return null
      throw error
    }
  }

  #row(session: Session): SessionRow {
    const { engine, now } = this.#deps
    return viewRow(session, {
      now: now(),
      project: this.#projectOf(session.worktreeOf ?? session.cwd),
      lastTurn: (id) => engine.turns.list(id, 1)[0] ?? null,
    })
  }

  #projectOf(path: string): SessionRow['project'] {
    const known = this.#projects.get(path)
    if (known !== undefined) return known
    const found = this.#deps.engine.projects.at(path)
    const project = found && { id: found.id, name: found.name }
    this.#projects.set(path, project)
    return project
  }

  #note(session: Session, print: string | null): void {
    const before = this.#entries.get(session.id)
    if (before) this.#forget(session.id, before)
    const now = this.#deps.now()
    const entry = entryOf(session, now, print)
    this.#entries.set(session.id, entry)
    const counts = this.#countsOf(entry.archived)
    counts[entry.attention] += 1
    counts.approvals += entry.approvals
    const until = attentionUntil(session, now)
    if (until !== null) this.#alarms.set(session.id, until)
  }

  #forget(id: string, { archived, attention, approvals }: Entry): void {
    this.#entries.delete(id)
    const counts = this.#countsOf(archived)
    counts[attention] -= 1
    counts.approvals -= approvals
  }

  #countsOf(archived: boolean): Counts {
    return archived ? this.#counts.archived : this.#counts.others
  }

  #break(): void {
    const left = [...this.watchers]
    this.#close()
    for (const watcher of left) watcher.broken()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#gone()
    this.watchers.clear()
    this.#subscription.close()
    this.#alarms.stop()
    if (this.#timer) clearTimeout(this.#timer)
  }
}

function noCounts(): Counts {
  return { needs_you: 0, working: 0, done: 0, snoozed: 0, quiet: 0, approvals: 0 }
}

function entryOf(session: Session, now: number, print: string | null): Entry {
  const { archived, activeAt, marks = NO_MARKS } = session
  return {
    attention: attentionOf(session, now),
    approvals: openApprovals(session).length,
    archived,
    pinned: marks.pinned,
    activeAt,
    print,
  }
}

type Listed = [id: string, entry: Entry]

/** Those that want something or are pinned, then those that were active last; the last active first. */
function foremost(all: Listed[], limit: number): string[] {
  const isWanted = ([, { attention, pinned }]: Listed): boolean => attention !== 'quiet' || pinned
  const later = (a: Listed, b: Listed): number => b[1].activeAt - a[1].activeAt || (a[0] < b[0] ? 1 : -1)
  const first = all
    .toSorted((a, b) => Number(isWanted(b)) - Number(isWanted(a)) || later(a, b))
    .slice(0, limit)
  return first.sort(later).map(([id]) => id)
}
