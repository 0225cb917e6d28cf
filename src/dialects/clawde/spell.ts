import type { Call, Change, Message } from '../../core/conversation/item.ts'
import type { Event } from '../../core/event.ts'
import { isNewCall, isShown } from './items.ts'
import type { Untold } from './pushes.ts'
import { answerView, CALL_STATUS, toolCallView, userView } from './views.ts'

/** What a change of a conversation is to clients. Pieces of messages are not told one by one: see `teller.ts`. */
export function spell(change: Change, { sessionId, at }: Event): Untold[] {
  switch (change.type) {
    case 'said':
      return [created(sessionId, userView(sessionId, change.message, at))]
    case 'opened':
      return isShown(change.message) ? [opened(sessionId, change.message)] : []
    case 'closed':
      return isShown(change.message) ? [updated(sessionId, change.message)] : []
    case 'call':
      if (isNewCall(change)) return [callCreated(sessionId, change.call)]
      return change.was === null || change.was === change.call.state
        ? []
        : [callUpdated(sessionId, change.call)]
    default:
      return []
  }
}

/** Every message of an assistant begins empty: clients are told of it first, and then what is in it. */
export function opened(sessionId: string, message: Message): Untold {
  return created(sessionId, answerView(sessionId, { ...message, text: '' }))
}

export function updated(sessionId: string, { id: messageId, text: content, open, aborted }: Message): Untold {
  const status = open ? 'streaming' : 'done'
  const params = { sessionId, messageId, content, status, ...(aborted && { aborted }) }
  return { method: 'session.messageUpdated', sessionId, params, grown: { messageId, content, done: !open } }
}

function created(sessionId: string, message: object): Untold {
  return { method: 'session.messageCreated', sessionId, params: { sessionId, message } }
}

export function callCreated(sessionId: string, call: Call): Untold {
  const params = { sessionId, toolCall: toolCallView(sessionId, call) }
  return { method: 'session.toolCallCreated', sessionId, params }
}

function callUpdated(sessionId: string, { id: toolCallId, state, tool: name, output }: Call): Untold {
  const params = { sessionId, toolCallId, status: CALL_STATUS[state], name, output }
  return { method: 'session.toolCallUpdated', sessionId, params }
}
