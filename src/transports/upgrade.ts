import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from './http-message.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Takes over the connection of a request that asks for another protocol. */
export type UpgradeHandler = (req: IncomingMessage, socket: Socket, head: Buffer) => void

/** Answers such a request as HTTP after all, and closes. */
export function refuseUpgrade(socket: Socket, error: HttpError): void {
  const headers = {
    connection: 'close',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(error.message),
    ...error.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  const status = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`
  socket.on('error', () => {}) // a peer that went away meanwhile
  socket.once('finish', () => socket.destroy())
  socket.end([status, ...lines, '', error.message].join('\r\n'))
}
