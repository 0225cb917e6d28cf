import { runIdOf } from './ids.ts'
import { isObject } from './text.ts'
import { wrong } from './wire.ts'

/** MCP servers by name, as in a `.mcp.json` file. */
export type Servers = Record<string, Record<string, unknown>>

/** Tools by which clients of this protocol say: let the daemon itself ask. */
const OWN_PROMPT_TOOL = /^mcp__(codelayer|approvals|humanlayer)__request_permission$/

/** An object or the JSON of one, with or without its outer `mcpServers`; null when it names no server. */
export function serversOf(config: unknown): Servers | null {
  if (config === undefined || (typeof config === 'string' && config.trim() === '')) return null
  const value = typeof config === 'string' ? parsed(config) : config
  if (!isObject(value)) throw refused('not an object')
  const servers = value['mcpServers'] ?? ('mcpServers' in value ? {} : value)
  if (!isObject(servers)) throw refused('mcpServers is not an object')
  for (const [name, server] of Object.entries(servers)) {
    if (!isObject(server)) throw refused(`the server ${name} is not an object`)
  }
  return Object.keys(servers).length > 0 ? (servers as Servers) : null
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw refused((error as Error).message)
  }
}

function refused(problem: string): Error {
  return wrong(`invalid mcp_config: ${problem}`, 'mcp_config')
}

/** Whose servers they are, for servers that talk back to this daemon. */
export interface Owner {
  sessionId: string
  socket: string
  /** The session that they were configured for before. */
  parentId?: string
}

/** Every server gets to know its session. What a client set itself stays, unless it names the parent. */
export function serversFor(
  servers: Servers,
  { sessionId, socket, parentId }: Owner,
): { mcpServers: Servers } {
  const inherited = new Set<unknown>(parentId === undefined ? [] : [parentId, runIdOf(parentId)])
  const missing = (value: unknown): boolean => value === undefined || value === null || inherited.has(value)

  function local(server: Record<string, unknown>): Record<string, unknown> {
    const env = isObject(server['env']) ? server['env'] : {}
    const ours = {
      HUMANLAYER_SESSION_ID: sessionId,
      HUMANLAYER_RUN_ID: runIdOf(sessionId),
      HUMANLAYER_DAEMON_SOCKET: socket,
    }
    const told = Object.entries(ours).filter(([name]) => missing(env[name]))
    return { ...server, env: { ...env, ...Object.fromEntries(told) } }
  }

  function remote(server: Record<string, unknown>): Record<string, unknown> {
    const headers = isObject(server['headers']) ? server['headers'] : {}
    const name = Object.keys(headers).find((key) => key.toLowerCase() === 'x-session-id') ?? 'X-Session-ID'
    return missing(headers[name]) ? { ...server, headers: { ...headers, [name]: sessionId } } : server
  }

  const entries = Object.entries(servers).map(([name, server]) => {
    if (typeof server['command'] === 'string') return [name, local(server)]
    return [name, typeof server['url'] === 'string' ? remote(server) : server]
  })
  return { mcpServers: Object.fromEntries(entries) as Servers }
}

/** The tool that is really asked for permission; null: the daemon asks by itself. */
export function promptToolOf(tool: string, servers: Servers | null): string | null {
  const own = OWN_PROMPT_TOOL.exec(tool)
  return own && !Object.hasOwn(servers ?? {}, own[1]!) ? null : tool
}
