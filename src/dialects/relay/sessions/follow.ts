import type { Engine } from '../../../core/api.ts'
import type { Event, EventOf, EventType } from '../../../core/event.ts'
import type { Piece } from '../ask.ts'
import { failureOf, GONE } from './failures.ts'

/** Calls that a model makes at once arrive one after the other; after so long without another one, that was all. */
const QUIET_MS = 20
/** As long as one that it has begun is not there yet. */
const EXPECTING_MS = 200
/** Events that wait for a client that reads slowly. */
const MAX_WAITING = 1000

const TYPES: EventType[] = [
  'message.delta',
  'message.completed',
  'tool.started',
  'call.held',
  'call.dropped',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
  'session.destroyed',
]

export interface FollowOptions {
  sessionId: string
  turnId: string
  /** Only what comes after this `seq`. */
  after: number
  /** Names of the tools that the caller carries out. */
  tools: ReadonlySet<string>
  thinking: boolean
  /** Nobody listens any more. */
  signal: AbortSignal
}

/**
 * What an agent says in a turn, up to its end or up to the calls that its caller has to carry out. The last piece is `end`;
 * calls that it ends with are held open by the engine.
 */
export async function* follow(
  engine: Pick<Engine, 'subscribe'>,
  { sessionId, turnId, after, tools, thinking, signal }: FollowOptions,
): AsyncGenerator<Piece, void> {
  const told = createTelling(thinking)
  const held = new Map<string, EventOf<'call.held'>>()
  const announced = new Set<string>()
  const source = createSource(engine, sessionId, after, signal)
  try {
    for (;;) {
      const complete = [...announced].every((callId) => held.has(callId))
      const event = await source.next(held.size === 0 ? null : complete ? QUIET_MS : EXPECTING_MS)
      if (event === null) {
        for (const { callId, tool, input } of held.values()) {
          yield { type: 'tool_use', id: callId, name: tool, input: input as Record<string, unknown> }
        }
        yield { type: 'end', stopReason: 'tool_use', stopSequence: null, usage: null }
        return
      }
      if (event.type === 'call.held') held.set(event.callId, event)
      else if (event.type === 'call.dropped') held.delete(event.callId)
      else if (event.type === 'tool.started') {
        if (tools.has(event.tool) && event.parent === null) announced.add(event.callId)
      } else if (event.type === 'message.delta' || event.type === 'message.completed') {
        const piece = told.piece(event)
        if (piece) yield piece
      } else if (isEnd(event, turnId)) {
        yield ending(event)
        return
      }
    }
  } finally {
    source.close()
  }
}

type End = Event & {
  type: 'turn.completed' | 'turn.failed' | 'turn.interrupted' | 'turn.cancelled' | 'session.destroyed'
}

function isEnd(event: Event, turnId: string): event is End {
  return event.type === 'session.destroyed' || ('turnId' in event && event.turnId === turnId)
}

function ending(event: End): Piece {
  if (event.type === 'turn.failed') throw failureOf(event.error)
  if (event.type !== 'turn.completed') throw GONE()
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = event.usage
  const usage = { inputTokens: inputTokens + cacheReadTokens + cacheWriteTokens, outputTokens }
  const counted = usage.inputTokens + usage.outputTokens > 0
  return { type: 'end', stopReason: 'end_turn', stopSequence: null, usage: counted ? usage : null }
}

/** Whoever reads late gets the whole message in place of its pieces: what it had of it is not told again. */
function createTelling(thinking: boolean) {
  let message: string | null = null
  let told = 0
  let spoke = false

  return {
    piece(event: Event & { type: 'message.delta' | 'message.completed' }): Piece | null {
      const { messageId, kind, text, parent } = event
      if (parent !== null || (kind === 'thinking' && !thinking)) return null
      const fresh = messageId !== message
      if (fresh) [message, told] = [messageId, 0]
      const news = event.type === 'message.delta' ? text : text.slice(told)
      told += news.length
      if (news === '') return null
      const between = fresh && kind === 'text' && spoke ? '\n\n' : ''
      if (kind === 'text') spoke = true
      return { type: kind, text: between + news }
    },
  }
}

/** Events of a session, one at a time. */
function createSource(
  engine: Pick<Engine, 'subscribe'>,
  sessionId: string,
  after: number,
  signal: AbortSignal,
) {
  const waiting: Event[] = []
  let wake: (() => void) | null = null
  let broken: unknown = null
  const subscription = engine.subscribe(
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
