import type { Call, Change, Message, UserMessage } from '../../core/conversation/item.ts'
import type { Event } from '../../core/event.ts'

/** What a conversation is made of, for these clients: messages of users, answers, and calls. */
export type Item = { said: UserMessage; at: number } | { answer: Message } | { call: Call }

/** Thoughts, and what sub-agents say among themselves, are no messages. */
export function isShown({ kind, parent }: Pick<Message, 'kind' | 'parent'>): boolean {
  return kind === 'text' && parent === null
}

/** What takes its place with this change; null: nothing does. An answer has its place when it is complete. */
export function newItem(change: Change, { at }: Event): Item | null {
  switch (change.type) {
    case 'said':
      return { said: change.message, at }
    case 'closed':
      return isShown(change.message) ? { answer: change.message } : null
    case 'call':
      return isNewCall(change) ? { call: change.call } : null
    default:
      return null
  }
}

/** A call that is over when it is first heard of began before all that the log still has: it is no new one. */
export function isNewCall({ call: { state }, was }: Change & { type: 'call' }): boolean {
  return was === null && state !== 'done' && state !== 'failed'
}
