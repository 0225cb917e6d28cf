import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { LineConnection, LineHandler } from './connection.ts'
import { frameBatch, pongFrame, textFrame } from './frames.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { createWriter, type Writer } from './writer.ts'

const OPEN = 1
const NORMAL = 1000
const UNSUPPORTED = 1003
const TOO_LARGE = 1009
/** More than enough for anybody to say who they are; what they ask for meanwhile comes in the same chunk at most. */
const STRANGER_BYTES = 128 * 1024

/** One client. A line is a text message; `share` makes its frame. */
export interface WebSocketConnection extends LineConnection {
  /** Sends what is queued and a close frame (the reason: 123 bytes at most); cuts if the peer does not follow in time. */
  close(code?: number, reason?: string): void
  /** Cuts the connection. */
  terminate(): void
  /** The peer has shown who it is: no clock runs against it any more. */
  admit(): void
}

export interface PeerOptions {
  sendLimit: number
  closeMs: number
  /** Whether it is admitted from the start. */
  known: boolean
  accept(connection: WebSocketConnection): LineHandler
  onAdmitted(): void
  onClosed(): void
}

export interface Peer {
  readonly connection: WebSocketConnection
  readonly admitted: boolean
  /** Asks for a sign of life where there was none since the last time, and gives up on who did not answer. */
  look(): void
}

/** Frames are read, and the closing handshake is done, by `ws`; messages are written here. */
export function servePeer(ws: WebSocket, socket: Socket, options: PeerOptions): Peer {
  let admitted = options.known
  const inbox = createInbox<Buffer>(ws, (message) => {
    if (ws.readyState === OPEN) handler.line(message)
  })
  const output = createWriter({
    socket,
    limit: options.sendLimit,
    batch: frameBatch(),
    // Nothing may follow a close frame, and `ws` answers the peer's by itself.
    isOpen: () => ws.readyState === OPEN && socket.writable,
    onBlocked: inbox.pause,
    onDrained() {
      inbox.resume()
      handler.drain?.()
    },
  })

  const connection: WebSocketConnection = {
    send: (line) => output.send(typeof line === 'string' ? textFrame(line) : line),
    share: textFrame,
    flush: output.now,
    pause: inbox.pause,
    resume: inbox.resume,
    close(code = NORMAL, reason = '') {
      if (ws.readyState !== OPEN) return
      output.flush()
      ws.close(code, reason)
      ws.resume() // or the peer's close frame is never read
      setTimeout(() => ws.terminate(), options.closeMs).unref()
    },
    terminate: () => ws.terminate(),
    admit() {
      admitted = true
      options.onAdmitted()
    },
  }
  const handler = options.accept(connection)

  readMessages(ws, socket, { connection, inbox, output, isAdmitted: () => admitted })
  ws.on('error', () => setTimeout(() => ws.terminate(), options.closeMs).unref()) // `ws` has sent the code
  ws.on('close', () => {
    inbox.clear()
    options.onClosed()
    handler.closed?.()
  })
  const state = () => ({ blocked: output.blocked, paused: inbox.paused })
  return {
    connection,
    get admitted() {
      return admitted
    },
    look: lifeOf(ws, socket, state),
  }
}

interface PeerParts {
  connection: WebSocketConnection
  inbox: Inbox<Buffer>
  output: Writer<Buffer>
  isAdmitted(): boolean
}

function readMessages(
  ws: WebSocket,
  socket: Socket,
  { connection, inbox, output, isAdmitted }: PeerParts,
): void {
  let fromStranger = 0
  // Around the listener of `ws`: whatever the messages of one chunk are answered with goes out in one write.
  socket.prependListener('data', (chunk: Buffer) => {
    output.hold()
    if (isAdmitted() || (fromStranger += chunk.length) <= STRANGER_BYTES) return
    connection.close(TOO_LARGE, 'say who you are first')
    ws.pause() // the rest is not even read
  })
  socket.on('data', output.release)
  ws.on('message', (message: Buffer, isBinary: boolean) => {
    if (isBinary) connection.close(UNSUPPORTED, 'text messages only')
    else if (ws.readyState === OPEN) inbox.put(message)
  })
  ws.on('ping', (payload) => output.send(pongFrame(payload)))
}

/**
 * Whoever sends is alive. Who has more unsent than the bound is not read from: there, taking some of it counts. And while
 * it is the dialect that does not read, silence says nothing.
 */
function lifeOf(
  ws: WebSocket,
  socket: Socket,
  state: () => { blocked: boolean; paused: boolean },
): () => void {
  let heard = 0
  let taken = 0
  let asked = false

  function hasSign(): boolean {
    const before = { heard, taken }
    heard = socket.bytesRead
    taken = socket.bytesWritten - socket.writableLength
    const { blocked, paused } = state()
    return heard > before.heard || (blocked ? taken > before.taken : paused)
  }

  return () => {
    if (hasSign()) asked = false
    else if (asked) ws.terminate()
    else {
      asked = true
      ws.ping()
    }
  }
}
