import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket, WebSocketServer } from 'ws'
import type { LineHandler } from './connection.ts'
import { HttpError } from './http-message.ts'
import { DEFAULT_MAX_MESSAGE } from './ndjson.ts'
import { refuseUpgrade, type UpgradeHandler } from './upgrade.ts'
import { servePeer, type Peer, type WebSocketConnection } from './websocket-peer.ts'

export type { WebSocketConnection } from './websocket-peer.ts'

const GOING_AWAY = 1001
const TRY_LATER = 1013
const TOO_SLOW = 4408

/** Who asks for a connection: refused, known already, or somebody who has to say who they are in their first messages. */
export type Admission = HttpError | 'known' | 'stranger'

export interface WebSocketOptions {
  /** Serves one connection. A stranger's handler calls `admit` once it knows better. */
  accept(
    connection: WebSocketConnection,
    request: IncomingMessage,
    admission: 'known' | 'stranger',
  ): LineHandler
  /** Looks at the request before the connection is made. Without it, everybody is known. */
  authorize?(request: IncomingMessage): Admission
  /** Largest message in bytes; above it the connection ends with 1009. */
  maxMessage?: number
  /** Unsent bytes per connection beyond which `send` is false, and nothing more is read from that peer. */
  sendLimit?: number
  maxConnections?: number
  /** Strangers at a time: the one that has been silent for longest makes room for the next. */
  maxStrangers?: number
  /** How long somebody may stay a stranger. */
  admitMs?: number
  /** When silent peers are asked for a sign of life; who has given none at the next time is given up. */
  beat?: Beat
  /** How long a peer may take to answer a close frame. */
  closeMs?: number
}

/** Calls back now and then, until the function that it returns is called. */
export type Beat = (call: () => void) => () => void

const BEAT_MS = 30_000

export function every(ms: number): Beat {
  return (call) => {
    // Two turns of the loop later: what came while this process was busy is read first, and no answer is taken for silence.
    const timer = setInterval(() => setImmediate(setImmediate, call), ms).unref()
    return () => clearInterval(timer)
  }
}

export interface WebSockets {
  readonly upgrade: UpgradeHandler
  readonly connections: number
  /** Takes no more, closes all with 1001, and waits until they are gone. */
  close(): Promise<void>
}

/** WebSocket connections, made from HTTP requests. No compression: what is small on the wire is small in memory. */
export function createWebSockets(options: WebSocketOptions): WebSockets {
  const { sendLimit = 1024 ** 2, closeMs = 2000, maxConnections = 4096, beat = every(BEAT_MS) } = options
  const peers = new Set<Peer>()
  const strangers = createStrangers(options)
  let closing = false
  let empty: () => void = () => {}
  let server: WebSocketServer | null = null
  const stopBeat = beat(() => peers.forEach((peer) => peer.look()))

  function admissionOf(req: IncomingMessage): Admission {
    const admission = options.authorize?.(req) ?? 'known'
    if (admission instanceof HttpError) return admission
    if (closing) return new HttpError(503, 'Stopping')
    const full = peers.size >= maxConnections
    return full ? new HttpError(503, 'Too many connections', { 'retry-after': '10' }) : admission
  }

  function open(by: WebSocketServer, req: IncomingMessage, socket: Socket, head: Buffer): void {
    const admission = admissionOf(req)
    if (admission instanceof HttpError) return refuseUpgrade(socket, admission)
    by.handleUpgrade(req, socket, head, (ws) => {
      socket.setKeepAlive(true, BEAT_MS)
      const peer = servePeer(ws, socket, {
        sendLimit,
        closeMs,
        known: admission === 'known',
        accept: (connection) => options.accept(connection, req, admission),
        onAdmitted: () => strangers.remove(ws),
        onClosed() {
          strangers.remove(ws)
          peers.delete(peer)
          if (peers.size === 0) empty()
        },
      })
      peers.add(peer)
      if (!peer.admitted) strangers.add(ws, peer.connection)
    })
  }

  return {
    upgrade(req, socket, head) {
      socket.on('error', () => {}) // a peer that went away; `close` follows
      if (server) return open(server, req, socket, head)
      void createServer(options.maxMessage).then((made) => open((server ??= made), req, socket, head))
    },
    get connections() {
      return peers.size
    },
    async close() {
      closing = true
      stopBeat()
      const { promise, resolve } = Promise.withResolvers<void>()
      empty = resolve
      for (const { connection } of peers) connection.close(GOING_AWAY, 'the server stops')
      if (peers.size > 0) await promise
    },
  }
}

/** The library is loaded by the first connection: who has none does not pay for it. */
async function createServer(maxPayload = DEFAULT_MAX_MESSAGE): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    autoPong: false, // pongs count as unsent bytes like everything else
  })
}

function createStrangers(options: Pick<WebSocketOptions, 'maxStrangers' | 'admitMs'>) {
  const { maxStrangers = 128, admitMs = 10_000 } = options
  const strangers = new Map<WebSocket, WebSocketConnection>()
  return {
    add(stranger: WebSocket, connection: WebSocketConnection): void {
      strangers.set(stranger, connection)
      const late = (): void => {
        if (strangers.has(stranger)) connection.close(TOO_SLOW, 'you did not say who you are in time')
      }
      setTimeout(late, admitMs).unref()
      const [first] = strangers
      if (!first || strangers.size <= maxStrangers) return
      strangers.delete(first[0])
      first[1].close(TRY_LATER, 'too many who have not said who they are')
    },
    remove: (stranger: WebSocket): void => void strangers.delete(stranger),
  }
}
