import type { Event, EventBody } from '../../../src/core/event.ts'
import { createConversation } from '../../../src/dialects/loaf/conversation.ts'

/** What is told about a message with this text and key, from when it is queued and started, and then about these events. */
export function toldOf({ text, key = null }: { text: string; key?: string | null }, ...bodies: EventBody[]) {
  const conversation = createConversation({ sessionId: 's', provider: () => 'openai' })
  let seq = 0
  const step = (body: EventBody) =>
    conversation.step({ ...body, seq: ++seq, at: seq, sessionId: 's' } as Event)
  const input = [{ type: 'text' as const, text }]
  const first = step({ type: 'turn.queued', turnId: 't', input, key, origin: null, position: 0 })
  const begun = [...first, ...step({ type: 'turn.started', turnId: 't' })]
  return { begun, events: bodies.flatMap(step), conversation }
}
