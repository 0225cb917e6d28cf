import type { Conversation } from './conversation.ts'
import type { ApprovalItem, Call, Message, OpenTurn, UserMessage } from './item.ts'

/** What is under way in a conversation, as plain data: for a reader elsewhere that goes on with the fold. */
export interface ConversationParts {
  turn: OpenTurn | null
  waiting: readonly UserMessage[]
  open: readonly Message[]
  calls: readonly Call[]
  questions: readonly ApprovalItem[]
  denied: readonly string[]
}

export function partsOf(conversation: Conversation): ConversationParts {
  const { turn, waiting, open, calls, questions, denied } = conversation
  return {
    turn,
    waiting: [...waiting.values()],
    open: [...open.values()],
    calls: [...calls.values()],
    questions: [...questions.values()],
    denied: [...denied],
  }
}

export function conversationOf(parts: ConversationParts): Conversation {
  const byId = <T extends { readonly id: string }>(list: readonly T[]): Map<string, T> =>
    new Map(list.map((one) => [one.id, one]))
  return {
    turn: parts.turn,
    waiting: byId(parts.waiting),
    open: byId(parts.open),
    calls: byId(parts.calls),
    questions: new Map(parts.questions.map((one) => [one.approval.id, one])),
    denied: new Set(parts.denied),
  }
}
