import type { CopiedEvents } from './api.ts'
import { asCopied, copiedModels } from './copying.ts'
import type { Directories } from './directories.ts'
import { CorralError } from './error.ts'
import {
  LoggedEvent,
  NO_SESSION,
  type Event,
  type EventBody,
  type EventType,
  type DaemonEvent,
} from './event.ts'
import { takenBack } from './marking.ts'
import { agentsIdOf, inOwnIds, NAMING_TYPES, ownIds, type OwnIds } from './own-ids.ts'
import type { Batch, Clock, Log, Write } from './ports.ts'
import { readModels } from './read-models.ts'
import { apply, isResting, statusOf, type Session } from './session.ts'

/** A message that is being streamed: what there is of it so far. */
interface OpenMessage {
  from: number
  kind: 'text' | 'thinking'
  parent: string | null
  parts: string[]
}

interface Entry {
  state: Session | null
  /** Batches on their way to the log. */
  pending: number
  open: Map<string, OpenMessage> | null
  ids: OwnIds | null
}

export interface Drafts {
  /** The newest state, committed or about to be. */
  peek(sessionId: string): Session | null
  of(sessionId: string): Draft
  /** Commits something that belongs to no session; with what `effect` says it changes. */
  apart<E extends DaemonEvent>(body: E, effect?: (body: E, at: number) => Write[]): Promise<void>
  /** Commits what has happened on another machine, with how far it has been read there. */
  copy(copied: CopiedEvents): Promise<void>
  /** The last committed number that is not that of a copy. */
  ownHead(): number
  /** Forgets what is not committed. */
  rollback(): void
}

interface DraftDeps {
  log: Log
  clock: Clock
  directories: Directories
  /** What was committed is told, and what follows from it is done: here, and never by whoever wanted it. */
  committed: (events: LoggedEvent[]) => void
  /** What was copied is told, and nothing follows from it. */
  copied: (events: LoggedEvent[]) => void
}

/**
 * Gives out `seq` numbers and keeps the states of busy sessions; a session that rests is only in the log, so ten thousand
 * of them cost nothing.
 */
export function createDrafts(deps: DraftDeps): Drafts {
  return new DraftBook(deps)
}

class DraftBook implements Drafts {
  readonly deps: DraftDeps
  readonly #entries = new Map<string, Entry>()
  /** The last number that was given out. */
  seq: number
  /** Null: nobody has asked yet. */
  #ownHead: number | null = null

  constructor(deps: DraftDeps) {
    this.deps = deps
    this.seq = deps.log.head
  }

  peek(sessionId: string): Session | null {
    return this.#entries.get(sessionId)?.state ?? this.deps.log.session(sessionId)
  }

  of(sessionId: string): Draft {
    return new Draft(this, sessionId, this.#entryOf(sessionId))
  }

  async copy({ machine, cursor, events }: CopiedEvents): Promise<void> {
    const batch: Batch = { events: [], writes: [] }
    const drafts = new Map<string, Draft>()
    for (const event of events) {
      const { sessionId } = event
      const draft = drafts.get(sessionId) ?? new Draft(this, sessionId, this.#entryOf(sessionId), batch)
      drafts.set(sessionId, draft)
      draft.copy(machine, event)
    }
    for (const draft of drafts.values()) draft.hold()
    batch.writes.push({ op: 'machine.cursor', name: machine, cursor })
    try {
      await this.deps.log.append(batch)
    } finally {
      for (const draft of drafts.values()) draft.letGo()
    }
    this.deps.copied(batch.events)
  }

  ownHead(): number {
    const { log } = this.deps
    this.#ownHead ??= log.events({ before: log.head + 1, limit: 1, own: true })[0]?.seq ?? 0
    return this.#ownHead
  }

  #entryOf(sessionId: string): Entry {
    let entry = this.#entries.get(sessionId)
    if (!entry) {
      entry = { state: this.deps.log.session(sessionId), pending: 0, open: null, ids: null }
      this.#entries.set(sessionId, entry)
    }
    return entry
  }

  apart<E extends DaemonEvent>(body: E, effect?: (body: E, at: number) => Write[]): Promise<void> {
    const logged = this.ofDaemon(body)
    const { event } = logged
    return this.append({
      events: [logged],
      writes: [...readModels(event), ...(effect?.(body, event.at) ?? [])],
    })
  }

  rollback(): void {
    this.#entries.clear()
    this.seq = this.deps.log.head
    this.deps.directories.rollback()
  }

  /** An event of what belongs to no session. */
  ofDaemon(body: DaemonEvent): LoggedEvent {
    const nowhere = { seq: this.seq + 1, at: this.deps.clock.now(), sessionId: NO_SESSION, turnId: null }
    const logged = serialised({ ...nowhere, ...body } as Event)
    this.seq++
    return logged
  }

  /** The one way into the log. */
  async append(batch: Batch): Promise<void> {
    for (const logged of batch.events) {
      if (logged.event.type === 'directory.changed') this.deps.directories.apply(logged.event)
    }
    await this.deps.log.append(batch)
    const last = batch.events.at(-1)
    if (last && this.#ownHead !== null) this.#ownHead = Math.max(this.#ownHead, last.seq)
    this.deps.committed(batch.events)
  }

  /** A session that rests, with nothing on its way to the log, is not kept. */
  release(sessionId: string, entry: Entry): void {
    const resting = !entry.state || isResting(entry.state)
    if (entry.pending === 0 && resting && this.#entries.get(sessionId) === entry)
      this.#entries.delete(sessionId)
  }
}

/** Events for one session that are committed together, with the state they lead to. */
export class Draft {
  readonly #book: DraftBook
  readonly #sessionId: string
  readonly #entry: Entry
  readonly #before: Session | null
  readonly #batch: Batch

  constructor(book: DraftBook, sessionId: string, entry: Entry, batch: Batch = { events: [], writes: [] }) {
    this.#book = book
    this.#sessionId = sessionId
    this.#entry = entry
    this.#before = entry.state
    this.#batch = batch
  }

  get state(): Session {
    return this.#entry.state!
  }

  /** Returns the `seq` of the first. */
  add(...bodies: EventBody[]): number {
    const first = this.#book.seq + 1
    try {
      for (const body of bodies) this.#record(body)
    } catch (error) {
      this.#discard()
      throw error
    }
    return first
  }

  /** For what an agent says: false when it cannot be written down; what was added before stays. */
  tryAdd(...bodies: EventBody[]): boolean {
    try {
      for (const body of bodies) this.#record(body)
      return true
    } catch {
      return false
    }
  }

  write(...writes: Write[]): void {
    this.#batch.writes.push(...writes)
  }

  /** Completes what was being streamed when it was cut off; `ofAgent`: what its sub-agents say goes on. */
  abortOpenMessages(ofAgent = false): void {
    for (const [id, { kind, parent, parts }] of this.#openMessages()) {
      if (ofAgent && parent !== null) continue
      const messageId = agentsIdOf(id)
      this.#record({
        type: 'message.completed',
        messageId,
        kind,
        parent,
        text: parts.join(''),
        aborted: true,
      })
    }
  }

  /** Resolves with the committed events. */
  async commit(key?: string): Promise<LoggedEvent[]> {
    const entry = this.#entry
    const before = this.#before
    const { events, writes } = this.#batch
    for (const body of entry.state ? takenBack(entry.state, events) : []) this.#record(body)
    const previous = before ? statusOf(before) : 'idle'
    const status = entry.state ? statusOf(entry.state) : previous
    if (status !== previous) {
      this.#record({ type: 'session.status', status, previous, outcome: entry.state?.lastOutcome ?? null })
    }
    if (entry.state && entry.state !== before) writes.push({ op: 'session', session: entry.state, key })
    if (events.length === 0 && writes.length === 0) {
      this.#book.release(this.#sessionId, entry)
      return []
    }
    entry.pending++
    try {
      await this.#book.append(this.#batch)
    } finally {
      this.letGo()
    }
    return events
  }

  /** An event of another machine: it is decided already, with ids of the log there. */
  copy(machine: string, told: Event): void {
    const { events, writes } = this.#batch
    const entry = this.#entry
    const seq = this.#book.seq + 1
    const event = asCopied(this.#book.deps.log, machine, told, seq, events)
    const logged = serialised({ ...event, machine, ownerSeq: told.seq })
    this.#book.seq++
    writes.push(...copiedModels(event, entry.state, { machine, ownerSeq: told.seq }))
    entry.state = { ...apply(entry.state, event), machine }
    events.push(logged)
    if (event.type === 'message.delta') stream(this.#openMessages(), event)
    else if (event.type === 'message.completed') this.#complete(event.messageId)
  }

  /** The state that was copied is on its way to the log, until `letGo`. */
  hold(): void {
    const { state } = this.#entry
    if (state) this.write({ op: 'session', session: state })
    this.#entry.pending++
  }

  letGo(): void {
    this.#entry.pending--
    this.#book.release(this.#sessionId, this.#entry)
  }

  #record(given: EventBody): void {
    const book = this.#book
    const entry = this.#entry
    const { events, writes } = this.#batch
    // A decision may be for a whole directory: the two are committed together.
    if (given.type === 'directory.changed') {
      const logged = book.ofDaemon(given)
      events.push(logged)
      writes.push(...readModels(logged.event))
      return
    }
    mustBeOurs(entry.state)
    const seq = book.seq + 1
    const body = inOwnIds(this.#ownIds(), given, seq)
    const turnId = 'turnId' in body ? body.turnId : (entry.state?.turn?.id ?? null)
    const event = { seq, at: book.deps.clock.now(), sessionId: this.#sessionId, turnId, ...body } as Event
    // What cannot be written down has not happened: nothing changes before this has gone well.
    const logged = serialised(withoutSecrets(event))
    book.seq++
    const before = entry.state?.nativeId ?? null
    entry.state = apply(entry.state, event)
    const { agent, nativeId: id } = entry.state
    if (id !== null && id !== before)
      this.write({ op: 'conversation', agent, id, sessionId: this.#sessionId })
    events.push(logged)
    if (event.type === 'message.delta') stream(this.#openMessages(), event)
    else if (event.type === 'message.completed') this.#complete(event.messageId)
    else writes.push(...readModels(event))
  }

  /** Nobody has seen any of it: the session is as it was. */
  #discard(): void {
    this.#entry.state = this.#before
    this.#entry.open = null
    this.#batch.events.length = 0
    this.#batch.writes.length = 0
    this.#book.release(this.#sessionId, this.#entry)
  }

  #complete(messageId: string): void {
    const open = this.#openMessages()
    const message = open.get(messageId)
    if (!message) return
    open.delete(messageId)
    this.write({ op: 'deltas.drop', sessionId: this.#sessionId, messageId, from: message.from })
  }

  /** After a restart the streamed pieces are in the log. */
  #openMessages(): Map<string, OpenMessage> {
    if (this.#entry.open) return this.#entry.open
    const open = (this.#entry.open = new Map<string, OpenMessage>())
    for (const { event } of this.#sinceTurnStarted(['message.delta'])) {
      if (event.type === 'message.delta') stream(open, event)
    }
    return open
  }

  /** After a restart the running turn is in the log. */
  #ownIds(): OwnIds {
    return (this.#entry.ids ??= ownIds(this.#sinceTurnStarted(NAMING_TYPES).map(({ event }) => event)))
  }

  #sinceTurnStarted(types: EventType[]): LoggedEvent[] {
    const after = this.#entry.state?.turn?.startedSeq
    if (after === undefined) return []
    return this.#book.deps.log.events({ sessionId: this.#sessionId, after, types, limit: 1_000_000 })
  }
}

function stream(open: Map<string, OpenMessage>, delta: Event & { type: 'message.delta' }): void {
  const { messageId, kind, parent, text, seq: from } = delta
  const message = open.get(messageId)
  if (message) message.parts.push(text)
  else open.set(messageId, { from, kind, parent, parts: [text] })
}

/** What is a copy is decided where it comes from. */
function mustBeOurs(state: Session | null): void {
  const machine = state?.machine
  if (machine === undefined) return
  throw new CorralError('machine_unreachable', `The session runs on ${machine}, which does not answer`, {
    machine,
  })
}

/** JSON has no limit on nesting, but the stack has. */
function serialised(event: Event): LoggedEvent {
  try {
    return LoggedEvent.of(event)
  } catch (error) {
    throw new CorralError(
      'invalid',
      'The value is nested too deeply to be stored',
      { type: event.type },
      error,
    )
  }
}

/** How an agent reaches its MCP servers may hold keys: the session's own row keeps it, readers of the log do not see it. */
function withoutSecrets(event: Event): Event {
  if (event.type !== 'session.created' || event.settings.mcpConfig === undefined) return event
  return { ...event, settings: { ...event.settings, mcpConfig: '[not shown]' } }
}
