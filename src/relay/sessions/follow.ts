import type { Engine } from '../../core/api.ts'
import type { CallResult } from '../../core/call.ts'
import { emptyConversation, step } from '../../core/conversation/conversation.ts'
import type { Call, Change, Message } from '../../core/conversation/item.ts'
import type { Event, EventType } from '../../core/event.ts'
import type { JsonObject, Piece } from '../ask.ts'
import { failureOf, GONE } from './failures.ts'

/** Calls that are made at once arrive one after the other; after so long without another one, that was all. */
const QUIET_MS = 20
/** Events that wait for a client that reads slowly. */
const MAX_WAITING = 1000

const ENDS: ReadonlySet<EventType> = new Set([
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
])

const TYPES: EventType[] = [
  'message.delta',
  'message.completed',
  'tool.started',
  'tool.completed',
  'call.held',
  'call.dropped',
  ...ENDS,
  'session.destroyed',
]

export interface FollowOptions {
  sessionId: string
  turnId: string
  /** Only what comes after this `seq`. */
  after: number
  /** What the caller knows the session as. */
  name: string
  /** Names of the tools that the caller carries out. */
  tools: ReadonlySet<string>
  /** What the caller has brought for calls that were announced and not made yet: the agent gets it when it makes them. */
  results: Map<string, CallResult>
  thinking: boolean
  /** Nobody listens any more. */
  signal: AbortSignal
}

/**
 * What an agent says in a turn, up to its end or up to the calls that its caller has to carry out. The last piece is `end`;
 * calls that it ends with are held open by the engine.
 */
export async function* follow(
  engine: Pick<Engine, 'events' | 'turns'>,
  { sessionId, turnId, after, name, tools, results, thinking, signal }: FollowOptions,
): AsyncGenerator<Piece, void> {
  // It begins where the agent has said nothing, or where it waits for its caller: no message is half told there.
  const conversation = emptyConversation()
  const telling = createTelling(thinking)
  const calls = createCalls(tools, results)
  const source = createSource(engine, sessionId, after, signal)
  try {
    for (;;) {
      const event = await source.next(calls.waiting() ? QUIET_MS : null)
      if (event === null) {
        yield* calls.list()
        yield { type: 'end', stopReason: 'tool_use', stopSequence: null, usage: null }
        return
      }
      if (isEnd(event, turnId)) {
        yield ending(event, name)
        return
      }
      for (const change of step(conversation, event)) {
        const piece = telling.piece(change)
        if (piece) yield piece
        if (change.type === 'call') calls.moved(change.call)
      }
      const brought = calls.see(event)
      if (brought) await engine.turns.answerCall({ sessionId, ...brought })
    }
  } finally {
    source.close()
  }
}

type ToolUse = Piece & { type: 'tool_use' }

/**
 * The calls that the caller has to carry out: all that the model has made in its answer. An agent makes the first one when
 * the model has named them all, and may make others only when it has the first ones' results.
 */
function createCalls(tools: ReadonlySet<string>, results: Map<string, CallResult>) {
  const announced = new Map<string, ToolUse>()
  const held = new Map<string, ToolUse>()

  return {
    /** It is the caller's turn. */
    waiting: (): boolean => held.size > 0,
    /** Calls by another id than they were announced with, as of a sub-agent, are told when they are made. */
    list(): Iterable<ToolUse> {
      const all = [...held.keys()].every((id) => announced.has(id)) ? announced : held
      return all.values()
    },
    moved({ id, tool, input, state, begun, parent }: Call): void {
      if (state !== 'asked' && state !== 'running') {
        announced.delete(id)
        held.delete(id)
      } else if (begun && parent === null && tools.has(tool) && !results.has(id)) {
        announced.set(id, toolUse(id, tool, input))
      }
    },
    /** What the caller has brought already for the call that is made. */
    see(event: Event): { callId: string; result: CallResult } | null {
      if (event.type === 'call.dropped') {
        announced.delete(event.callId)
        held.delete(event.callId)
      }
      if (event.type !== 'call.held') return null
      const { callId, tool, input } = event
      const result = results.get(callId)
      results.delete(callId)
      if (result) return { callId, result }
      held.set(callId, toolUse(callId, tool, input))
      return null
    },
  }
}

function toolUse(id: string, name: string, input: unknown): ToolUse {
  return { type: 'tool_use', id, name, input: input as JsonObject }
}

type End = Event & {
  type: 'turn.completed' | 'turn.failed' | 'turn.interrupted' | 'turn.cancelled' | 'session.destroyed'
}

function isEnd(event: Event, turnId: string): event is End {
  return event.type === 'session.destroyed' || (ENDS.has(event.type) && event.turnId === turnId)
}

function ending(event: End, name: string): Piece {
  if (event.type === 'turn.failed') throw failureOf(event.error, name)
  if (event.type !== 'turn.completed') throw GONE()
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = event.usage
  const usage = { inputTokens: inputTokens + cacheReadTokens + cacheWriteTokens, outputTokens }
  const counted = usage.inputTokens + usage.outputTokens > 0
  return { type: 'end', stopReason: 'end_turn', stopSequence: null, usage: counted ? usage : null }
}

/** What the agent itself says, piece by piece; its messages are apart from each other. */
function createTelling(thinking: boolean) {
  let spoke = false
  let isFresh = false

  return {
    piece(change: Change): Piece | null {
      if (change.type === 'opened' && isAnswer(change.message)) isFresh = true
      if (change.type !== 'grew' && change.type !== 'closed') return null
      const { kind, parent } = change.message
      const news = change.type === 'grew' ? change.piece : change.rest
      if (news === '' || parent !== null || (kind === 'thinking' && !thinking)) return null
      if (kind === 'thinking') return { type: kind, text: news }
      const between = isFresh && spoke ? '\n\n' : ''
      isFresh = false
      spoke = true
      return { type: kind, text: between + news }
    },
  }
}

function isAnswer({ kind, parent }: Message): boolean {
  return kind === 'text' && parent === null
}

/** Events of a session, one at a time. */
function createSource(engine: Pick<Engine, 'events'>, sessionId: string, after: number, signal: AbortSignal) {
  const waiting: Event[] = []
  let wake: (() => void) | null = null
  let broken: unknown = null
  const subscription = engine.events.subscribe(
    { after, sessionId, types: TYPES },
    (events) => {
      for (const { event } of events) waiting.push(event)
      wake?.()
      return waiting.length < MAX_WAITING
    },
    (error) => {
      broken = error ?? new Error('The log cannot be read')
      wake?.()
    },
  )
  let full = false
  const aborted = (): void => wake?.()
  signal.addEventListener('abort', aborted)

  return {
    close() {
      signal.removeEventListener('abort', aborted)
      subscription.close()
    },
    /** The next one; null when there is none within that time. */
    async next(waitMs: number | null): Promise<Event | null> {
      signal.throwIfAborted()
      full ||= waiting.length >= MAX_WAITING
      if (waiting.length === 0 && broken === null) {
        if (full) {
          full = false
          subscription.resume()
        }
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = waitMs === null ? undefined : setTimeout(resolve, waitMs)
        await promise.finally(() => clearTimeout(timer))
        wake = null
        signal.throwIfAborted()
      }
      const event = waiting.shift()
      if (event) return event
      if (broken !== null) throw broken
      return null
    },
  }
}
