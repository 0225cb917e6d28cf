import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server'
import type { Asker } from './asking.ts'
import { createServer } from './server.ts'
import { McpSessions, type SessionLimits } from './sessions.ts'

export interface EndpointOptions {
  asker: Asker
  version: string
  limits?: Partial<SessionLimits>
}

/** The server behind `/mcp`, in terms of web requests. */
export interface Endpoint {
  /** `body` is parsed already, undefined when there is none that could be; `over` aborts when the response is over. */
  handle(request: Request, body: unknown, over: AbortSignal): Promise<Response>
  /** Ends every conversation; questions under way are taken back. */
  close(): Promise<void>
}

const LIMITS: SessionLimits = { sessions: 256, idleMs: 60 * 60 * 1000 }

/** Serves clients that keep a session, and those of the revision after it, whose requests stand alone. */
export function createEndpoint({ asker, version, limits }: EndpointOptions): Endpoint {
  const makeServer = () => createServer({ asker, version })
  const sessions = new McpSessions(makeServer, { ...LIMITS, ...limits })
  // A stream from the start: a human takes longer than clients wait for the first byte.
  const standalone = createMcpHandler(makeServer, { legacy: 'reject', responseMode: 'sse' })
  return {
    async handle(request, body, over) {
      if (await isLegacyRequest(request, body)) return sessions.handle(request, body, over)
      return standalone.fetch(request, { parsedBody: body })
    },
    async close() {
      await Promise.all([sessions.close(), standalone.close()])
    },
  }
}
