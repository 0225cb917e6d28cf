import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { McpServer } from '@modelcontextprotocol/server'
import { uuid } from '../../core/ids.ts'

export interface SessionLimits {
  /** So many clients at a time; the one that was idle for longest makes room. */
  sessions: number
  /** A client that was not heard of for so long is forgotten. */
  idleMs: number
}

interface McpSession {
  server: McpServer
  transport: WebStandardStreamableHTTPServerTransport
  /** Requests that are not answered in full. */
  busy: number
  usedAt: number
}

/** Conversations of clients that begin with `initialize` and name theirs in every later request. */
export interface McpSessions {
  /** `over` aborts when the response is over, however it ended. */
  handle(request: Request, body: unknown, over: AbortSignal): Promise<Response>
  close(): Promise<void>
}

export function createSessions(makeServer: () => McpServer, limits: SessionLimits): McpSessions {
  const sessions = new Map<string, McpSession>()
  const tidying = setInterval(tidy, Math.min(limits.idleMs, 60_000)).unref()

  function tidy(): void {
    const since = Date.now() - limits.idleMs
    for (const [id, { busy, usedAt }] of sessions) if (busy === 0 && usedAt <= since) void end(id)
  }

  function end(id: string): Promise<void> {
    const session = sessions.get(id)
    sessions.delete(id)
    return session?.server.close() ?? Promise.resolve()
  }

  /** False when every session is busy. */
  function makeRoom(): boolean {
    if (sessions.size < limits.sessions) return true
    const idle = [...sessions].filter(([, { busy }]) => busy === 0)
    const [oldest] = idle.sort(([, one], [, other]) => one.usedAt - other.usedAt)
    if (!oldest) return false
    void end(oldest[0])
    return true
  }

  async function open(id: string): Promise<McpSession> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => void sessions.delete(id),
    })
    const session = { server: makeServer(), transport, busy: 0, usedAt: Date.now() }
    sessions.set(id, session)
    await session.server.connect(transport)
    return session
  }

  function serve(session: McpSession, request: Request, body: unknown, over: AbortSignal): Promise<Response> {
    session.busy += 1
    const done = (): void => {
      session.busy -= 1
      session.usedAt = Date.now()
    }
    if (over.aborted) done()
    else over.addEventListener('abort', done)
    return session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body })
  }

  return {
    async handle(request, body, over) {
      const named = request.headers.get('mcp-session-id')
      if (named !== null) {
        const session = sessions.get(named)
        return session ? serve(session, request, body, over) : refusal(404, -32001, 'Session not found')
      }
      if (!isInitializeRequest(body))
        return refusal(400, -32000, 'Begin with initialize, then send its session id')
      if (!makeRoom())
        return refusal(503, -32000, `${limits.sessions} clients are connected: try again later`)
      const id = uuid()
      const response = await serve(await open(id), request, body, over)
      if (!response.ok) await end(id)
      return response
    },
    async close() {
      clearInterval(tidying)
      await Promise.all([...sessions.keys()].map(end))
    },
  }
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
}
