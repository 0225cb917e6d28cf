import type { Content } from './content.ts'
import { CorralError } from './error.ts'
import type { EventBody } from './event.ts'
import type { Session } from './session.ts'

/*
 * Tools that the client of a session carries out itself. A call is held open: the agent waits on it like on an approval,
 * also while the daemon restarts, until the client brings the result.
 */

export interface ClientTool {
  name: string
  description: string
  /** JSON Schema of its input. */
  inputSchema: Record<string, unknown>
}

export interface CallResult {
  content: Content[]
  isError: boolean
}

/** What an agent says about a call. */
export interface CallRequest {
  /** As in `tool.started`. */
  callId: string
  /** The agent's own name for its request: the result carries it. */
  requestId: string
  /** What else of the request the result has to carry. */
  ref?: unknown
  tool: string
  input: unknown
}

/** A call that the agent waits on, or whose result it does not have yet. */
export interface HeldCall extends CallRequest {
  result: CallResult | null
}

/** The agent calls a tool of its client's; asked again while nobody has answered, it is the same call. */
export function hold(state: Session, call: CallRequest): EventBody[] {
  return state.calls.some(({ requestId }) => requestId === call.requestId)
    ? []
    : [{ type: 'call.held', ...call }]
}

export function answerCall(state: Session, callId: string, result: CallResult): EventBody[] {
  const call = state.calls.find((held) => held.callId === callId && held.result === null)
  if (!call) {
    throw new CorralError('call_not_found', `The agent does not wait for the result of call ${callId}`, {
      callId,
    })
  }
  return [{ type: 'call.answered', callId, result }]
}

/** The agent does not want to know any more. */
export function drop(state: Session, requestId: string): EventBody[] {
  const call = state.calls.find((held) => held.requestId === requestId)
  return call ? [{ type: 'call.dropped', callId: call.callId }] : []
}
