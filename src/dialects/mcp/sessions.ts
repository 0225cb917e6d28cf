import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { McpServer } from '@modelcontextprotocol/server'
import { uuid } from '../../core/ids.ts'

export interface SessionLimits {
  /** So many clients at a time; the one that was idle for longest has to go. */
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
export class McpSessions {
  readonly #makeServer: () => McpServer
  readonly #limits: SessionLimits
  readonly #sessions = new Map<string, McpSession>()
  readonly #tidying: NodeJS.Timeout

  constructor(makeServer: () => McpServer, limits: SessionLimits) {
    this.#makeServer = makeServer
    this.#limits = limits
    this.#tidying = setInterval(() => this.#tidy(), Math.min(limits.idleMs, 60_000)).unref()
  }

  /** `over` aborts when the response is over, however it ended. */
  async handle(request: Request, body: unknown, over: AbortSignal): Promise<Response> {
    const named = request.headers.get('mcp-session-id')
    if (named !== null) {
      const session = this.#sessions.get(named)
      return session ? serve(session, request, body, over) : refusal(404, -32001, 'Session not found')
    }
    if (!isInitializeRequest(body))
      return refusal(400, -32000, 'Begin with initialize, then send its session id')
    if (!this.#makeSpace())
      return refusal(503, -32000, `${this.#limits.sessions} clients are connected: try again later`)
    const id = uuid()
    const response = await serve(await this.#open(id), request, body, over)
    if (!response.ok) await this.#end(id)
    return response
  }

  async close(): Promise<void> {
    clearInterval(this.#tidying)
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)))
  }

  #tidy(): void {
    const since = Date.now() - this.#limits.idleMs
    for (const [id, { busy, usedAt }] of this.#sessions) if (busy === 0 && usedAt <= since) void this.#end(id)
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    await session?.server.close()
  }

  /** False when every session is busy. */
  #makeSpace(): boolean {
    if (this.#sessions.size < this.#limits.sessions) return true
    const idle = [...this.#sessions].filter(([, { busy }]) => busy === 0)
    const [oldest] = idle.sort(([, one], [, other]) => one.usedAt - other.usedAt)
    if (!oldest) return false
    void this.#end(oldest[0])
    return true
  }

  async #open(id: string): Promise<McpSession> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => void this.#sessions.delete(id),
    })
    const session = { server: this.#makeServer(), transport, busy: 0, usedAt: Date.now() }
    this.#sessions.set(id, session)
    await session.server.connect(transport)
    return session
  }
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

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
}
