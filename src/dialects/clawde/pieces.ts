import type { Push } from './pushes.ts'

/**
 * For clients that put answers together from pieces, and look at nothing else: ClawDE's command line and its editor plugin. What
 * one of them has of an answer is known for each connection, so its pieces add up to the answer wherever they come from.
 */
export interface Pieces {
  /** It was answered so much of a message. */
  has(messageId: string, content: string): void
  /** What goes with a push, under both of the names that there are. */
  of(push: Push): Push[]
}

export function createPieces(): Pieces {
  /** Of answers that are not complete. */
  const told = new Map<string, string>()
  return {
    has: (messageId, content) => void told.set(messageId, content),
    of({ sessionId, seq, grown }) {
      if (!grown) return []
      const { messageId, content, done } = grown
      const before = told.get(messageId) ?? ''
      if (done) told.delete(messageId)
      else told.set(messageId, content)
      // Pieces cannot be taken back: an answer that has become another one is told by its end only.
      const delta = content.startsWith(before) ? content.slice(before.length) : ''
      const push = (method: string, more: object): Push => ({
        method,
        sessionId,
        seq,
        params: { sessionId, messageId, ...more },
      })
      return [
        ...(delta === '' ? [] : NAMES.delta.map((method) => push(method, { delta }))),
        ...(done ? NAMES.complete.map((method) => push(method, { content })) : []),
      ]
    },
  }
}

const NAMES = {
  delta: ['session.message.delta', 'session.messageDelta'],
  complete: ['session.message.complete', 'session.messageComplete'],
} as const
