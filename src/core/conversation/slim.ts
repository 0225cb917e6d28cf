import type { Content } from '../content.ts'
import type { Event } from '../event.ts'
import type { ConversationParts } from './parts.ts'

/*
 * What a list of a conversation needs of its events. Outputs, long inputs and images stay in the log: whoever opens a call or a
 * picture reads them there, by `seq`. Doing it twice is the same as doing it once.
 */

const MAX_TEXT = 500
const MAX_ITEMS = 50
const MAX_DEPTH = 5
/** Of a result that is an error: enough to see what is wrong. */
const MAX_ERROR = 300
/** Base64; smaller pictures come along. */
const MAX_IMAGE = 32 * 1024

/** An input with long texts and long lists cut short. */
export function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return cutAt(value, MAX_TEXT)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return null
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((one) => shortened(one, depth + 1))
  const fields = Object.entries(value).slice(0, MAX_ITEMS)
  return Object.fromEntries(fields.map(([key, one]) => [key, shortened(one, depth + 1)]))
}

/** Large pictures and documents without their data: an empty text stands for it. */
export function withoutData<Part extends Content>(content: readonly Part[]): Part[] {
  return content.map((part) =>
    part.type === 'text' || part.data.length <= MAX_IMAGE ? part : { ...part, data: '' },
  )
}

/** `isOpen`: a human has yet to answer this approval, and must see all of it. */
export function slim(event: Event, isOpen: (approvalId: string) => boolean): Event {
  switch (event.type) {
    case 'turn.queued':
    case 'turn.steered':
    case 'turn.steer_accepted':
      return { ...event, input: withoutData(event.input) }
    case 'tool.started':
      return { ...event, input: shortened(event.input) }
    case 'tool.completed':
      return {
        ...event,
        output: event.isError ? cutAt(event.output, MAX_ERROR) : '',
        ...(event.images && { images: withoutData(event.images) }),
      }
    case 'approval.requested': {
      const { approval } = event
      if (isOpen(approval.id)) return event
      return { ...event, approval: { ...approval, input: shortened(approval.input), suggestions: null } }
    }
    case 'agent.notice':
      return { ...event, data: null }
    case 'turn.completed':
      return { ...event, text: null }
    default:
      return event
  }
}

export function slimParts(parts: ConversationParts): ConversationParts {
  const { waiting, calls } = parts
  return {
    ...parts,
    waiting: waiting.map((message) => ({ ...message, content: withoutData(message.content) })),
    calls: calls.map((call) => ({ ...call, input: shortened(call.input) })),
  }
}

/** Pieces of one message as one piece, which stands where the first one stood. */
export function joinedPieces(events: readonly Event[]): Event[] {
  const pieces = new Map<string, string[]>()
  for (const event of events) {
    if (event.type !== 'message.delta') continue
    const texts = pieces.get(event.messageId)
    if (texts) texts.push(event.text)
    else pieces.set(event.messageId, [event.text])
  }
  return events.flatMap((event): Event[] => {
    if (event.type !== 'message.delta') return [event]
    const texts = pieces.get(event.messageId)
    pieces.delete(event.messageId)
    return texts ? [{ ...event, text: texts.join('') }] : []
  })
}

function cutAt(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
