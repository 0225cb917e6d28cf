import { createConnection, type Socket } from 'node:net'

interface Answer<T> {
  result?: T
  error?: { message: string }
}

/** One request of the Codecast protocol, one answer. */
export async function rpc<T>(port: number, method: string, params: object = {}): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, params }),
  })
  const { result, error } = (await response.json()) as Answer<T>
  if (error) throw new Error(`${method}: ${error.message}`)
  return result as T
}

export async function newSession(port: number, path: string, agent: string): Promise<string> {
  const params = { path, cli_type: agent, mode: 'auto' }
  return (await rpc<{ sessionId: string }>(port, 'session.create', params)).sessionId
}

/** A request as it goes over the wire. */
export function request(method: string, params: object, connection = 'close'): string {
  const body = JSON.stringify({ method, params })
  const head = [
    'POST /rpc HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `connection: ${connection}`,
  ]
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** Reads the stream of one message, from the connection on; resolves at its end. */
export function follow(port: number, params: object, onBytes: (bytes: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = createConnection(port, '127.0.0.1')
    socket.setNoDelay(true)
    socket.write(request('session.send', params))
    socket.on('data', onBytes)
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

/** How long a message's answer took to begin and to end, in milliseconds. */
export interface Exchange {
  firstMs: number
  endMs: number
}

/** From before the connection is made to the first piece of the answer, and to the end of the stream. */
export async function exchange(port: number, sessionId: string, message: string): Promise<Exchange> {
  const sent = performance.now()
  let [firstMs, endMs] = [0, 0]
  let text = ''
  await follow(port, { sessionId, message }, (bytes) => {
    text += bytes.toString('latin1')
    if (firstMs === 0 && text.includes('"type":"partial"')) firstMs = performance.now() - sent
    if (endMs === 0 && text.includes('data: [DONE]')) endMs = performance.now() - sent
  })
  if (firstMs === 0 || endMs === 0) throw new Error(`the stream had no answer: ${text.slice(-500)}`)
  return { firstMs, endMs }
}
