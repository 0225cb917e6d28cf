import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { createLineSplitter } from '../../../src/transports/ndjson.ts'
import { arrival } from '../../support/wait.ts'

export type Json = Record<string, unknown>

/** An event of a stream; `[DONE]` is one of type `[DONE]`. */
export interface StreamEvent extends Json {
  type: string
}

export interface Stream {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** The next event; null at the end of the stream. */
  next(): Promise<StreamEvent | null>
  /** Reads up to and including the first event of this type. */
  until(type: string): Promise<StreamEvent[]>
  /** All that is left. */
  rest(): Promise<StreamEvent[]>
  /** The ids of the events that were taken so far. */
  ids: number[]
  /** The longest line so far, in bytes. */
  longest(): number
  pause(): void
  resume(): void
  /** Leaves without a word. */
  cut(): void
}

export interface Answer {
  status: number
  headers: Headers
  text: string
}

export async function post(
  base: string,
  body: string | Buffer,
  contentType: string | null = 'application/json',
): Promise<Answer> {
  // A connection that is kept may be closed for idleness just when a slow test uses it again.
  const headers: Record<string, string> = { connection: 'close' }
  const bytes = typeof body === 'string' ? body : new Uint8Array(body)
  const init: RequestInit = { method: 'POST', body: bytes }
  // A string body would bring a content type of its own.
  if (contentType === null) init.body = new Blob([bytes])
  else headers['content-type'] = contentType
  const res = await fetch(`${base}/rpc`, { ...init, headers })
  return { status: res.status, headers: res.headers, text: await res.text() }
}

/** The whole answer to one call. */
export async function call(base: string, method: string, params?: Json, more: Json = {}): Promise<Json> {
  const { text } = await post(base, JSON.stringify({ method, ...(params ? { params } : {}), ...more }))
  return JSON.parse(text) as Json
}

export async function result<T = Json>(base: string, method: string, params?: Json): Promise<T> {
  const answer = await call(base, method, params)
  if (!('result' in answer)) throw new Error(`${method}: ${JSON.stringify(answer)}`)
  return answer['result'] as T
}

export async function failure(
  base: string,
  method: string,
  params?: Json,
): Promise<{ code: number; message: string }> {
  const answer = await call(base, method, params)
  if (!('error' in answer)) throw new Error(`${method}: ${JSON.stringify(answer)}`)
  return answer['error'] as { code: number; message: string }
}

export async function create(base: string, path: string, params: Json = {}): Promise<string> {
  const { sessionId } = await result<{ sessionId: string }>(base, 'session.create', {
    path,
    cli_type: 'demo',
    ...params,
  })
  return sessionId
}

export async function send(
  base: string,
  sessionId: string,
  message: string,
  params: Json = {},
): Promise<Stream> {
  const body = JSON.stringify({ method: 'session.send', params: { sessionId, message, ...params } })
  const req = request(`${base}/rpc`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  })
  req.end(body)
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  return streamOf(res)
}

function streamOf(res: IncomingMessage): Stream {
  const events: { event: StreamEvent; id: number | null }[] = []
  const ids: number[] = []
  let id: number | null = null
  let longest = 0
  let ended = false
  let wake = (): void => undefined
  const splitter = createLineSplitter({
    onLine(bytes) {
      longest = Math.max(longest, bytes.length)
      const line = bytes.toString('utf8')
      if (line.startsWith('id: ')) id = Number(line.slice(4))
      if (!line.startsWith('data: ')) return
      const data = line.slice('data: '.length)
      events.push({ event: data === '[DONE]' ? { type: data } : (JSON.parse(data) as StreamEvent), id })
      id = null
    },
  })
  res.on('data', (chunk: Buffer) => {
    splitter.push(chunk)
    wake()
  })
  res.on('close', () => {
    ended = true
    wake()
  })
  res.on('error', () => undefined)

  async function next(): Promise<StreamEvent | null> {
    while (events.length === 0 && !ended) {
      const more = new Promise<void>((resolve) => (wake = resolve))
      await arrival(more, 'an event, or the end of the stream')
    }
    const taken = events.shift()
    if (typeof taken?.id === 'number') ids.push(taken.id)
    return taken?.event ?? null
  }

  async function collect(last: string | null): Promise<StreamEvent[]> {
    const seen: StreamEvent[] = []
    for (let event = await next(); event; event = await next()) {
      seen.push(event)
      if (event.type === last) return seen
    }
    if (last !== null) throw new Error(`the stream ended without ${last}: ${JSON.stringify(seen)}`)
    return seen
  }

  return {
    status: res.statusCode ?? 0,
    headers: res.headers,
    next,
    until: collect,
    rest: () => collect(null),
    ids,
    longest: () => longest,
    pause: () => void res.pause(),
    resume: () => void res.resume(),
    cut: () => void res.destroy(),
  }
}

/** The answer as a person reads it. */
export function textOf(events: readonly StreamEvent[], type: 'text' | 'partial' = 'text'): string {
  return events
    .filter((event) => event.type === type)
    .map((event) => event['content'])
    .join('')
}

/** Without what may come or not: pings, and pieces of messages. */
export function whole(events: readonly StreamEvent[]): StreamEvent[] {
  return events.filter(({ type }) => type !== 'ping' && type !== 'partial')
}

export function types(events: readonly StreamEvent[]): string[] {
  return events.map((event) => event.type)
}
