import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

/** A client that says what it is told, right or wrong, byte by byte. */
export interface RawWebSocket {
  readonly socket: Socket
  /** The status line and headers of the answer. */
  readonly head: string
  readonly status: number
  /** The next frame, or null at the end of the connection. */
  next(): Promise<RawFrame | null>
}

export interface RawFrame {
  opcode: number
  payload: Buffer
}

export interface RawOptions {
  path?: string
  headers?: Record<string, string>
  /** Bytes that follow the request at once. */
  also?: Buffer
}

export async function openRaw(t: TestContext, port: number, options: RawOptions = {}): Promise<RawWebSocket> {
  const socket = createConnection({ port, host: '127.0.0.1' })
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  const headers = {
    host: `127.0.0.1:${port}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': KEY,
    ...options.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = Buffer.from(`GET ${options.path ?? '/'} HTTP/1.1\r\n${lines.join('')}\r\n`)
  socket.write(Buffer.concat([request, options.also ?? Buffer.alloc(0)]))

  let bytes: Buffer = Buffer.alloc(0)
  // Put together when somebody reads: a test may leave much unread.
  const unread: Buffer[] = []
  let ended = false
  let wake = (): void => {}
  socket.on('data', (chunk: Buffer) => {
    unread.push(chunk)
    wake()
  })
  socket.on('close', () => {
    ended = true
    wake()
  })

  /** What `read` finds, waited for; null when the connection ends before. */
  async function wait<T>(read: () => T | null): Promise<T | null> {
    for (;;) {
      if (unread.length > 0) bytes = Buffer.concat([bytes, ...unread.splice(0)])
      const found = read()
      if (found !== null || ended) return found
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  function take(length: number): Buffer {
    const taken = bytes.subarray(0, length)
    bytes = bytes.subarray(length)
    return taken
  }

  const head = await wait(() => {
    const end = bytes.indexOf('\r\n\r\n')
    return end < 0 ? null : take(end + 4).toString()
  })
  return {
    socket,
    head: head ?? '',
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head ?? '')?.[1] ?? 0),
    next: () =>
      wait(() => {
        const parsed = parseFrame(bytes)
        if (!parsed) return null
        take(parsed.length)
        return parsed.frame
      }),
  }
}

function parseFrame(bytes: Buffer): { frame: RawFrame; length: number } | null {
  if (bytes.length < 2) return null
  const short = bytes[1]! & 0x7f
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start) return null
  const size = start === 2 ? short : start === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < start + size) return null
  const frame = { opcode: bytes[0]! & 0x0f, payload: bytes.subarray(start, start + size) }
  return { frame, length: start + size }
}

/** The code of the close frame that comes next among whatever else; null when the connection ends without one. */
export async function closeCode(raw: RawWebSocket): Promise<number | null> {
  for (;;) {
    const frame = await raw.next()
    if (frame === null) return null
    if (frame.opcode === 8) return frame.payload.length < 2 ? 1005 : frame.payload.readUInt16BE(0)
  }
}

/** A frame as a client has to send it; the first byte as it is, and a mask that changes nothing. */
export function masked(first: number, payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload)
  const size =
    bytes.length < 126
      ? Buffer.of(0x80 | bytes.length)
      : bytes.length < 65_536
        ? Buffer.of(0xfe, bytes.length >> 8, bytes.length & 0xff)
        : Buffer.concat([Buffer.of(0xff), lengthOf(bytes.length)])
  return Buffer.concat([Buffer.of(first), size, Buffer.alloc(4), bytes])
}

export function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(length))
  return bytes
}

export const TEXT = 0x81
export const BINARY = 0x82
export const PING = 0x89
