import type { Directories } from './directories.ts'
import { CorralError } from './error.ts'
import { LoggedEvent, NO_SESSION, type Event, type EventBody, type HouseEvent } from './event.ts'
import { agentsIdOf, inOwnIds, NAMING_TYPES, ownIds, type OwnIds } from './own-ids.ts'
import type { Batch, Clock, Log, Write } from './ports.ts'
import { readModels } from './read-models.ts'
import { apply, isResting, statusOf, type Session } from './session.ts'

/** A message that is being streamed: what there is of it so far. */
export interface OpenMessage {
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

/** Events for one session that are committed together, with the state they lead to. */
export interface Draft {
  readonly state: Session
  /** Returns the `seq` of the first. */
  add(...bodies: EventBody[]): number
  /** For what an agent says: false when it cannot be written down; what was added before stays. */
  tryAdd(...bodies: EventBody[]): boolean
  write(...writes: Write[]): void
  /** Completes what was being streamed when it was cut off; `ofAgent`: what its sub-agents say goes on. */
  abortOpenMessages(ofAgent?: boolean): void
  /** Resolves with the committed events. */
  commit(key?: string): Promise<LoggedEvent[]>
}

export interface Drafts {
  /** The newest state, committed or about to be. */
  peek(sessionId: string): Session | null
  of(sessionId: string): Draft
  /** Commits something that belongs to no session; with what `effect` says it changes. */
  apart<E extends HouseEvent>(body: E, effect?: (body: E, at: number) => Write[]): Promise<void>
  /** Forgets what is not committed. */
  rollback(): void
}

interface DraftDeps {
  log: Log
  clock: Clock
  directories: Directories
  /** What was committed is told, and what follows from it is done: here, and never by whoever wanted it. */
  committed: (events: LoggedEvent[]) => void
}

/**
 * Gives out `seq` numbers and keeps the states of busy sessions; a session that rests is only in the log, so ten thousand
 * of them cost nothing.
 */
export function createDrafts({ log, clock, directories, committed }: DraftDeps): Drafts {
  const entries = new Map<string, Entry>()
  let seq = log.head

  function entryOf(sessionId: string): Entry {
    let entry = entries.get(sessionId)
    if (!entry)
      entries.set(sessionId, (entry = { state: log.session(sessionId), pending: 0, open: null, ids: null }))
    return entry
  }

  /** A session that rests, with nothing on its way to the log, is not kept. */
  function release(sessionId: string, entry: Entry): void {
    const resting = !entry.state || isResting(entry.state)
    if (entry.pending === 0 && resting && entries.get(sessionId) === entry) entries.delete(sessionId)
  }

  /** The one way into the log. */
  async function append(batch: Batch): Promise<void> {
    for (const logged of batch.events) {
      if (logged.event.type === 'directory.changed') directories.apply(logged.event)
    }
    await log.append(batch)
    committed(batch.events)
  }

  /** Of what belongs to no session. */
  function ofHouse(body: HouseEvent): LoggedEvent {
    const nowhere = { seq: seq + 1, at: clock.now(), sessionId: NO_SESSION, turnId: null }
    const logged = serialised({ ...nowhere, ...body } as Event)
    seq++
    return logged
  }

  function draft(sessionId: string): Draft {
    const entry = entryOf(sessionId)
    const batch: Batch = { events: [], writes: [] }
    const before = entry.state

    function record(given: EventBody): void {
      // A decision may be for a whole directory: the two are committed together.
      if (given.type === 'directory.changed') {
        const logged = ofHouse(given)
        batch.events.push(logged)
        batch.writes.push(...readModels(logged.event))
        return
      }
      const body = inOwnIds(idsOf(entry, sessionId), given, seq + 1)
      const turnId = 'turnId' in body ? body.turnId : (entry.state?.turn?.id ?? null)
      const event = { seq: seq + 1, at: clock.now(), sessionId, turnId, ...body } as Event
      // What cannot be written down has not happened: nothing changes before this has gone well.
      const logged = serialised(withoutSecrets(event))
      seq++
      entry.state = apply(entry.state, event)
      batch.events.push(logged)
      if (event.type === 'message.delta') stream(event)
      else if (event.type === 'message.completed') complete(event.messageId)
      else batch.writes.push(...readModels(event))
    }

    /** Nobody has seen any of it: the session is as it was. */
    function discard(): void {
      entry.state = before
      entry.open = null
      batch.events.length = 0
      batch.writes.length = 0
      release(sessionId, entry)
    }

    function stream(delta: Event & { type: 'message.delta' }): void {
      const open = openOf(entry, sessionId)
      const message = open.get(delta.messageId)
      if (message) message.parts.push(delta.text)
      else
        open.set(delta.messageId, {
          from: delta.seq,
          kind: delta.kind,
          parent: delta.parent,
          parts: [delta.text],
        })
    }

    function complete(messageId: string): void {
      const open = openOf(entry, sessionId)
      const message = open.get(messageId)
      if (!message) return
      open.delete(messageId)
      batch.writes.push({ op: 'deltas.drop', sessionId, messageId, from: message.from })
    }

    return {
      get state() {
        return entry.state!
      },
      add(...bodies) {
        const first = seq + 1
        try {
          for (const body of bodies) record(body)
        } catch (error) {
          discard()
          throw error
        }
        return first
      },
      tryAdd(...bodies) {
        try {
          for (const body of bodies) record(body)
          return true
        } catch {
          return false
        }
      },
      write(...writes) {
        batch.writes.push(...writes)
      },
      abortOpenMessages(ofAgent = false) {
        for (const [messageId, { kind, parent, parts }] of openOf(entry, sessionId)) {
          if (ofAgent && parent !== null) continue
          const text = parts.join('')
          record({
            type: 'message.completed',
            messageId: agentsIdOf(messageId),
            kind,
            parent,
            text,
            aborted: true,
          })
        }
      },
      async commit(key) {
        const previous = before ? statusOf(before) : 'idle'
        const status = entry.state ? statusOf(entry.state) : previous
        if (status !== previous) {
          record({ type: 'session.status', status, previous, outcome: entry.state?.lastOutcome ?? null })
        }
        if (entry.state && entry.state !== before)
          batch.writes.push({ op: 'session', session: entry.state, key })
        if (batch.events.length === 0 && batch.writes.length === 0) {
          release(sessionId, entry)
          return []
        }
        entry.pending++
        try {
          await append(batch)
        } finally {
          entry.pending--
          release(sessionId, entry)
        }
        return batch.events
      },
    }
  }

  /** After a restart the streamed pieces are in the log. */
  function openOf(entry: Entry, sessionId: string): Map<string, OpenMessage> {
    if (entry.open) return entry.open
    const open = new Map<string, OpenMessage>()
    entry.open = open
    const startedSeq = entry.state?.turn?.startedSeq
    if (startedSeq === undefined) return open
    const deltas = log.events({ sessionId, after: startedSeq, types: ['message.delta'], limit: 1_000_000 })
    for (const { event } of deltas) {
      if (event.type !== 'message.delta') continue
      const { messageId, kind, parent, text, seq: from } = event
      const message = open.get(messageId)
      if (message) message.parts.push(text)
      else open.set(messageId, { from, kind, parent, parts: [text] })
    }
    return open
  }

  /** After a restart the running turn is in the log. */
  function idsOf(entry: Entry, sessionId: string): OwnIds {
    if (entry.ids) return entry.ids
    const startedSeq = entry.state?.turn?.startedSeq
    const types = NAMING_TYPES
    const past =
      startedSeq === undefined ? [] : log.events({ sessionId, after: startedSeq, types, limit: 1_000_000 })
    return (entry.ids = ownIds(past.map(({ event }) => event)))
  }

  return {
    peek: (sessionId) => entries.get(sessionId)?.state ?? log.session(sessionId),
    of: draft,
    apart(body, effect) {
      const logged = ofHouse(body)
      const { event } = logged
      return append({ events: [logged], writes: [...readModels(event), ...(effect?.(body, event.at) ?? [])] })
    },
    rollback() {
      entries.clear()
      seq = log.head
      directories.rollback()
    },
  }
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
