import { asObject, asString, halves, type JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { modelsTold } from './models.ts'
import { nothing, notice, says, type Step } from '../step.ts'
import type { ClaudeState } from './state.ts'

/** What a request of ours is for; part of its id, so that an answer is understood without remembering the question. */
export type Purpose =
  | 'barrier'
  | 'claim'
  | 'effort'
  | 'end'
  | 'initialize'
  | 'interrupt'
  | 'mcp'
  | 'mode'
  | 'model'
  | 'models'
  | 'retract'
  | 'thinking'

/** A control request as a stdin line. */
export function request(purpose: Purpose, id: string, body: JsonObject): string {
  return JSON.stringify({ type: 'control_request', request_id: `${purpose}:${id}`, request: body })
}

/** What the oldest versions answer, too; newer requests they pass over in silence. */
export function barrier(id: string): string {
  return request('barrier', id, { subtype: 'mcp_status' })
}

/** The answer to a request of Claude's as a stdin line. */
export function response(requestId: string, body: JsonObject): string {
  const success = { subtype: 'success', request_id: requestId, response: body }
  return JSON.stringify({ type: 'control_response', response: success })
}

/** An answer to a request of ours. */
export function answered(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const answer = asObject(line.response)
  const [purpose, id] = halves(asString(answer.request_id) ?? '')
  if (purpose === 'barrier') return says(state, { type: 'barrier.reached', id })
  if (answer.subtype === 'error') return says(state, refusal(purpose, answer))
  const body = asObject(answer.response)
  if (purpose === 'mode' && typeof body.mode === 'string') {
    return nothing({ ...state, permissionMode: body.mode })
  }
  if (purpose === 'initialize' || purpose === 'models') return says(state, ...modelsTold(body))
  if (purpose === 'mcp') return says(state, ...failedServers(body))
  return nothing(state)
}

function refusal(purpose: string, answer: JsonObject): DriverOutput {
  const error = asString(answer.error) ?? 'no reason given'
  const code = purpose === 'claim' ? 'claim_failed' : 'request_refused'
  const data = { purpose, error, code: asString(answer.error_code) }
  return notice(code, `Claude refused a request (${purpose}): ${error}`, data)
}

function failedServers(body: JsonObject): DriverOutput[] {
  return Object.entries(asObject(body.errors)).map(([server, error]) => {
    const message = `MCP server ${server} is not available: ${asString(error) ?? 'no reason given'}`
    return notice('mcp_failed', message, { server, error })
  })
}
