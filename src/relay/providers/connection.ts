import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

// Not imported: see transports/http.ts.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

export interface Patience {
  /** Until there is a connection. */
  connectMs: number
  /** Without a single byte. Long: a local model may have to be loaded first. */
  silenceMs: number
}

export interface Connection {
  /** Resolves with the head of the answer; rejects with what a socket or a timer says. */
  post(body: string, headers: OutgoingHttpHeaders, signal: AbortSignal): Promise<IncomingMessage>
  close(): void
}

const PATIENCE: Patience = { connectMs: 10_000, silenceMs: 10 * 60_000 }

/** Posts to one address, over connections that are kept. */
export function createConnection(url: URL, patience: Partial<Patience> = {}): Connection {
  const { connectMs, silenceMs } = { ...PATIENCE, ...patience }
  const secure = url.protocol === 'https:'
  const agent: Agent = secure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true })
  const { request } = secure ? https : http

  function once(
    body: string,
    headers: OutgoingHttpHeaders,
    signal: AbortSignal,
  ): { req: ClientRequest; response: Promise<IncomingMessage> } {
    const { promise: response, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const length = Buffer.byteLength(body)
    const req = request(url, {
      method: 'POST',
      agent,
      signal,
      headers: { ...headers, 'content-length': length },
    })
    const timer = setTimeout(() => req.destroy(timedOut(connectMs)), connectMs)
    const connected = (): void => clearTimeout(timer)
    req.on('socket', (socket: Socket) => {
      if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', connected)
      else connected()
    })
    let answer: IncomingMessage | null = null
    req.setTimeout(silenceMs, () => (answer ?? req).destroy(timedOut(silenceMs)))
    req.once('response', (response: IncomingMessage) => resolve((answer = response)))
    req.on('error', reject)
    req.once('close', connected)
    req.end(body)
    return { req, response }
  }

  return {
    async post(body, headers, signal) {
      const first = once(body, headers, signal)
      try {
        return await first.response
      } catch (error) {
        // A kept connection that the other side closes while we write says nothing about the other side.
        if (!first.req.reusedSocket || !wasCut(error) || signal.aborted) throw error
        return once(body, { ...headers }, signal).response
      }
    },
    close: () => agent.destroy(),
  }
}

function timedOut(ms: number): Error {
  return Object.assign(new Error(`nothing came for ${ms} ms`), { code: 'ETIMEDOUT' })
}

function wasCut(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(String((error as NodeJS.ErrnoException).code))
}
