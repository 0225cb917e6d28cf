import type { CallResult, ClientTool, HeldCall } from '../../core/call.ts'
import type { Session } from '../../core/session.ts'
import { asObject, asString, type JsonObject } from '../json.ts'
import { response } from './control.ts'
import { nothing, other, says, type Step } from '../step.ts'
import type { ClaudeState } from './state.ts'

/*
 * The tools of a session's client are an MCP server for Claude, spoken on the same pipes as everything else: a call that is
 * held open outlives the daemon, since journal and FIFO do.
 */

/** What Claude calls the server; its tools are `mcp__client__NAME` there. */
export const CLIENT_SERVER = 'client'
/** More than a model calls at once. */
const MAX_CALLS = 1000
const PREFIX = `mcp__${CLIENT_SERVER}__`

/** The name that the client has given it. */
export function ownName(tool: string): string {
  return tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : tool
}

/** A message of the MCP client within Claude. */
export interface McpRequest {
  requestId: string
  message: JsonObject
}

/** Calls wait for the client; the rest of the protocol is answered by `answerMcp`. */
export function mcpMessage(state: ClaudeState, requestId: string, line: JsonObject): Step<ClaudeState> {
  const request = asObject(line.request)
  if (request.server_name !== CLIENT_SERVER) return other(state, 'control_request/mcp_message', line)
  const message = asObject(request.message)
  if (message.method !== 'tools/call') {
    const wanted: McpRequest = { requestId, message }
    return says(state, { type: 'agent.request', request: wanted })
  }
  const params = asObject(message.params)
  const tool = asString(params.name) ?? 'unknown'
  const callId = asString(asObject(params._meta)['claudecode/toolUseId']) ?? requestId
  const call = { callId, requestId, ref: message.id, tool, input: params.arguments ?? {} }
  if (state.streams) return nothing({ ...state, calls: [...state.calls, call].slice(-MAX_CALLS) })
  return says(state, { type: 'call.asked', ...call })
}

export function answerMcp({ requestId, message }: McpRequest, { settings }: Session): string[] {
  const { id, method } = message
  if (id === undefined) return [response(requestId, { mcp_response: {} })]
  const answer = (body: JsonObject): string[] => [
    response(requestId, { mcp_response: { jsonrpc: '2.0', id, ...body } }),
  ]
  switch (method) {
    case 'initialize':
      return answer({
        result: {
          protocolVersion: asObject(message.params).protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: CLIENT_SERVER, version: '1.0.0' },
        },
      })
    case 'tools/list':
      return answer({ result: { tools: (settings.clientTools ?? []).map(described) } })
    case 'ping':
      return answer({ result: {} })
    default:
      return answer({ error: { code: -32601, message: `No method ${asString(method) ?? ''}` } })
  }
}

/** Claude calls several tools at once only if they promise to change nothing, which is their client's business here. */
function described({ name, description, inputSchema }: ClientTool): JsonObject {
  return { name, description, inputSchema, annotations: { readOnlyHint: true } }
}

/** The stdin line that lets Claude go on. */
export function callResult({ requestId, ref: id, result }: HeldCall): string[] {
  if (!result) return []
  const body = { content: contentOf(result), isError: result.isError }
  return [response(requestId, { mcp_response: { jsonrpc: '2.0', id, result: body } })]
}

function contentOf({ content }: CallResult): JsonObject[] {
  return content.map((part) => {
    if (part.type === 'text') return part
    if (part.type === 'image') return { type: 'image', mimeType: part.mediaType, data: part.data }
    const resource = { uri: 'file:///document.pdf', mimeType: part.mediaType, blob: part.data }
    return { type: 'resource', resource }
  })
}
