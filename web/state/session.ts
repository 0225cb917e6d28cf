import { batch, signal, type Signal } from '@preact/signals'
import { CONVERSATION_TYPES } from '../../src/core/conversation/conversation.ts'
import type { OpenTurn, UserMessage } from '../../src/core/conversation/item.ts'
import type { Event, EventType, PlanEntry } from '../../src/core/event.ts'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { NativeError, type Api, type EventStream } from '../client/client.ts'
import { client } from './connection.ts'
import { callRowId, type Row } from './row.ts'
import { advance, callsAbove, openTranscript, prepend, takeChanges, visibleRows } from './transcript.ts'
import type { Transcript, VisibleRow } from './transcript.ts'

/** Messages, calls and the like in the part that is shown first, and in those that are put in front. */
const FIRST_PART = 150
const OLDER_PART = 300
/** On the way to a place that is far back. */
const FAR_PART = 2000
const MAX_FAR_PARTS = 8
/** Several events nearly at once change what is known of the session once. */
const VIEW_MS = 80

/** After these the session itself may be another one. */
const VIEW_TYPES: ReadonlySet<EventType> = new Set<EventType>([
  'session.changed',
  'session.status',
  'session.marked',
  'agent.model',
  'turn.queued',
  'turn.started',
  'turn.cancelled',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
])
const TYPES: EventType[] = [
  ...new Set([...CONVERSATION_TYPES, ...VIEW_TYPES, 'session.drafted', 'session.destroyed'] as const),
]

export interface Draft {
  text: string
  revision: number
}

/** `gone`: there is no such session, or there is none any more. */
export type Phase = 'loading' | 'there' | 'gone' | 'failed'

type Part = Api['conversation.read']['result']

/**
 * One session on the screen: its newest part, then what happens, each event once. What is lost on the way (the connection, the
 * daemon) is read on from the last event; only a log that begins anew begins this anew.
 */
export class OpenSession {
  readonly id: string
  readonly phase = signal<Phase>('loading')
  readonly problem = signal<string | null>(null)
  readonly view = signal<SessionView | null>(null)
  readonly order = signal<readonly VisibleRow[]>([])
  readonly queue = signal<readonly UserMessage[]>([])
  readonly steers = signal<readonly UserMessage[]>([])
  readonly plan = signal<readonly PlanEntry[] | null>(null)
  readonly turn = signal<OpenTurn | null>(null)
  readonly compacting = signal(false)
  /** There are older parts. */
  readonly more = signal(false)
  /** What was typed elsewhere, as it comes. */
  readonly draft = signal<Draft | null>(null)
  /** Rows that somebody has opened. */
  readonly expanded = signal<ReadonlySet<string>>(new Set())
  #transcript: Transcript | null = null
  #next: number | null = null
  readonly #rows = new Map<string, Signal<Row | null>>()
  readonly #inside = new Map<string, Signal<number>>()
  #stream: EventStream | null = null
  #older: Promise<void> | null = null
  #frame = 0
  #viewTimer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(id: string) {
    this.id = id
    void this.#follow()
  }

  close(): void {
    this.#isClosed = true
    this.#stream?.close()
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#viewTimer)
  }

  /** A row, as it is and as it becomes. */
  row(id: string): Signal<Row | null> {
    const known = this.#rows.get(id)
    if (known) return known
    const made = signal<Row | null>(this.peek(id))
    this.#rows.set(id, made)
    return made
  }

  /** A row as it is. */
  peek(id: string): Row | null {
    return this.#transcript?.rows.get(id) ?? null
  }

  /** Counts up whenever something happens inside a sub-agent's call. */
  inside(callId: string): Signal<number> {
    const known = this.#inside.get(callId)
    if (known) return known
    const made = signal(0)
    this.#inside.set(callId, made)
    return made
  }

  /** The rows of a sub-agent's call, in order. */
  rowsIn(callId: string): Row[] {
    const transcript = this.#transcript
    const list = transcript?.lists.get(callId)
    if (!transcript || !list) return []
    return [...list.placed, ...list.open].flatMap((id) => transcript.rows.get(id) ?? [])
  }

  toggle(id: string, isOpen = !this.expanded.peek().has(id)): void {
    const next = new Set(this.expanded.peek())
    if (isOpen) next.add(id)
    else next.delete(id)
    batch(() => {
      this.expanded.value = next
      this.#reorder()
    })
  }

  /** Puts the part before the oldest one in front. */
  older(limit = OLDER_PART): Promise<void> {
    this.#older ??= this.#readOlder(limit).finally(() => (this.#older = null))
    return this.#older
  }

  /** Reads back to an event, and opens what it stands in. The id of its row; null: it is not to be seen. */
  async reach(seq: number, turnId: string | null): Promise<string | null> {
    while (this.#next !== null && this.#next > seq && !this.#isClosed) await this.older(FAR_PART)
    const found = this.#rowAt(seq, turnId)
    if (!found) return null
    for (const callId of this.#transcript ? callsAbove(this.#transcript, found.parent) : [])
      this.toggle(callRowId(callId), true)
    if (found.kind === 'thinking') this.toggle(found.id, true)
    return found.id
  }

  /** Reads back until a row is there; gives up where that is too far. */
  async reachRow(id: string): Promise<boolean> {
    for (let parts = 0; parts < MAX_FAR_PARTS && this.#next !== null && !this.peek(id); parts++) {
      await this.older(FAR_PART)
    }
    return this.peek(id) !== null
  }

  /** What is being done: the newest call that runs, of whomever. */
  running(): Row | null {
    const calls = [...(this.#transcript?.conversation.calls.values() ?? [])]
    const last = calls.findLast(({ state }) => state === 'running')
    return last ? (this.#transcript?.rows.get(callRowId(last.id)) ?? null) : null
  }

  /** The rows in which somebody is asked something. */
  asking(): string[] {
    const questions = [...(this.#transcript?.conversation.questions.values() ?? [])]
    return questions.flatMap(({ asked, callId }) => (asked ? callRowId(callId) : []))
  }

  /** A message stands where its turn begins, and was written down before. */
  #rowAt(seq: number, turnId: string | null): Row | null {
    const rows = [...(this.#transcript?.rows.values() ?? [])]
    return rows.find((row) => row.seq === seq) ?? rows.find((row) => row.id === `u:${turnId}`) ?? null
  }

  async #readOlder(limit: number): Promise<void> {
    const transcript = this.#transcript
    if (!transcript || this.#next === null) return
    const part = await client().call('conversation.read', { sessionId: this.id, before: this.#next, limit })
    if (this.#isClosed || this.#transcript !== transcript) return
    prepend(transcript, part, part.of !== this.id)
    this.#next = part.next
    this.#show()
  }

  async #follow(): Promise<void> {
    try {
      while (!this.#isClosed) await this.#followOnce()
    } catch (error) {
      if (this.#isClosed) return
      const isGone = error instanceof NativeError && error.code === 'session_not_found'
      this.problem.value = error instanceof Error ? error.message : String(error)
      this.phase.value = isGone ? 'gone' : 'failed'
    }
  }

  /** Until it is closed, or the log has begun anew. */
  async #followOnce(): Promise<void> {
    const sessionId = this.id
    const [part, view] = await Promise.all([
      client().call('conversation.read', { sessionId, limit: FIRST_PART }),
      client().call('session.get', { sessionId }),
    ])
    if (this.#isClosed) return
    this.#begin(part, view)
    this.#reachSomething().catch(() => {}) // what comes asks again
    const { seq: after, log } = part
    const onReset = (): number => {
      this.#stream?.close()
      return 0
    }
    const stream = client().events({ after, log, sessionId, types: TYPES, onReset })
    this.#stream = stream
    for await (const event of stream) this.#take(event)
  }

  /** Nothing may have been said here yet, but where this session branched off. */
  async #reachSomething(): Promise<void> {
    while (this.#next !== null && this.order.peek().length === 0 && !this.#isClosed) await this.older()
  }

  #begin(part: Part, view: SessionView): void {
    this.#transcript = openTranscript(part)
    this.#next = part.next
    batch(() => {
      this.view.value = view
      for (const [id, row] of this.#rows) row.value = this.#transcript!.rows.get(id) ?? null
      this.#show()
      this.phase.value = 'there'
    })
  }

  #take(event: Event): void {
    if (!this.#transcript) return
    advance(this.#transcript, event)
    if (event.type === 'session.destroyed') this.phase.value = 'gone'
    if (event.type === 'session.drafted') this.draft.value = { text: event.text, revision: event.revision }
    if (VIEW_TYPES.has(event.type)) this.#refresh()
    // However many pieces come, they are drawn once a frame.
    this.#frame ||= requestAnimationFrame(() => this.#show())
  }

  #refresh(): void {
    clearTimeout(this.#viewTimer)
    this.#viewTimer = setTimeout(() => {
      client()
        .call('session.get', { sessionId: this.id })
        .then(
          (view) => void (this.view.value = view),
          () => {}, // the next event asks again
        )
    }, VIEW_MS)
  }

  /** Tells everybody who looks what has changed. */
  #show(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    const transcript = this.#transcript
    if (!transcript) return
    const { rows, moved } = takeChanges(transcript)
    batch(() => {
      for (const id of rows) this.#showRow(transcript, id)
      if (moved) this.#reorder()
      const { waiting, turn } = transcript.conversation
      const queue = transcript.queue.flatMap((id) => waiting.get(id) ?? [])
      const queued = new Set(transcript.queue)
      const steers = [...waiting.values()].filter(({ id, steer }) => steer && !queued.has(id))
      if (!isSame(queue, this.queue.peek())) this.queue.value = queue
      if (!isSame(steers, this.steers.peek())) this.steers.value = steers
      this.turn.value = turn
      this.plan.value = transcript.plan
      this.compacting.value = transcript.compacting
      this.more.value = this.#next !== null
    })
  }

  #showRow(transcript: Transcript, id: string): void {
    const row = transcript.rows.get(id) ?? null
    const shown = this.#rows.get(id)
    if (shown) shown.value = row
    for (const callId of callsAbove(transcript, row?.parent ?? null)) {
      const inside = this.#inside.get(callId)
      if (inside) inside.value++
    }
  }

  #reorder(): void {
    const transcript = this.#transcript
    if (!transcript) return
    const open = this.expanded.peek()
    this.order.value = visibleRows(transcript, (id) => open.has(id))
  }
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at])
}
