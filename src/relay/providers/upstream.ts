import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Ask, JsonObject, Piece } from '../ask.ts'
import { RelayFailure } from '../failure.ts'
import { createConnection, type Patience } from './connection.ts'
import type { ModelCall, Provider } from './provider.ts'
import { refusalOf, retryAfterOf, unreachable, type Upstream } from './refusal.ts'
import { createSseReader, type SseEvent } from './sse-reader.ts'

/** An API elsewhere, as the user configures it. */
export interface UpstreamConfig {
  name: string
  kind: 'anthropic' | 'openai'
  baseUrl: string
  apiKey?: string
  /** Asked for, whatever the client names. */
  model?: string
  /** The same for single models; goes before `model`. */
  models?: Record<string, string>
}

export interface UpstreamProvider extends Provider {
  /** Closes the connections that are kept. */
  close(): void
}

/** How one API is asked and how its answers are read. Both are pure. */
export interface Shape {
  endpoint(baseUrl: string): URL
  headers(apiKey: string | undefined): OutgoingHttpHeaders
  body(ask: Ask, model: string): JsonObject
  reader(upstream: Upstream): AnswerReader
}

/** The fold over one answer's events. */
export interface AnswerReader {
  /** Throws what the upstream says in place of an event. */
  read(event: SseEvent): Piece[]
  /** The stream is over. Its `end`, unless that was read already; null: it broke off. */
  end(): Piece[] | null
  /** The answer is complete: nothing of interest follows. */
  readonly done: boolean
}

const MAX_ERROR_BYTES = 64 * 1024
/** How long the last bytes after the answer may take, so that the connection can be used again. */
const LAST_BYTES_MS = 1000

export function createUpstream(
  config: UpstreamConfig,
  shape: Shape,
  patience: Partial<Patience> = {},
): UpstreamProvider {
  const { name, apiKey } = config
  const upstream: Upstream = { name, secrets: apiKey ? [apiKey] : [] }
  const url = shape.endpoint(config.baseUrl)
  const connection = createConnection(url, patience)
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
    ...shape.headers(apiKey),
  }

  async function* answer({ ask, signal }: ModelCall): AsyncGenerator<Piece> {
    let response: IncomingMessage | null = null
    const reader = shape.reader(upstream)
    try {
      signal.throwIfAborted()
      response = await connection.post(JSON.stringify(shape.body(ask, modelOf(config, ask))), headers, signal)
      await refuse(upstream, response)
      yield* pieces(upstream, response, reader)
    } catch (error) {
      if (signal.aborted) return
      throw error instanceof RelayFailure ? error : unreachable(upstream, reasonOf(error, url), error)
    } finally {
      if (response) leave(response, reader.done)
    }
  }

  return {
    name,
    countsItself: true,
    unavailable: () => Promise.resolve(null),
    answer,
    close: connection.close,
  }
}

function modelOf({ model, models }: UpstreamConfig, ask: Ask): string {
  return (models && Object.hasOwn(models, ask.model) ? models[ask.model] : undefined) ?? model ?? ask.model
}

async function refuse(upstream: Upstream, response: IncomingMessage): Promise<void> {
  const status = response.statusCode ?? 0
  if (status >= 300 && status < 400) {
    // Not followed: the key is for the address that the user gave.
    throw unreachable(upstream, `it answers with a redirect (${status}): set its real address`)
  }
  if (status !== 200) {
    throw refusalOf(upstream, status, await start(response), retryAfterOf(response.headers, Date.now()))
  }
  const type = response.headers['content-type'] ?? ''
  if (!type.startsWith('text/event-stream')) throw unreachable(upstream, 'its answer is not a stream')
}

/** As much of a body as an error message needs. */
async function start(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part)
    size += part.length
    if (size > MAX_ERROR_BYTES) break
  }
  return Buffer.concat(parts).toString('utf8')
}

async function* pieces(
  upstream: Upstream,
  response: IncomingMessage,
  reader: AnswerReader,
): AsyncGenerator<Piece> {
  const events = createSseReader()
  const chunks = response.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of chunks) {
    for (const event of events.push(chunk)) yield* reader.read(event)
    if (reader.done) return
  }
  const last = reader.end()
  if (!last) throw unreachable(upstream, 'the answer broke off')
  yield* last
}

/** A connection whose answer was read to its end is used again; any other is worth nothing. */
function leave(response: IncomingMessage, complete: boolean): void {
  if (response.readableEnded) return
  if (!complete) return void response.destroy()
  const timer = setTimeout(() => response.destroy(), LAST_BYTES_MS).unref()
  response.once('close', () => clearTimeout(timer))
  response.on('error', () => undefined)
  response.resume()
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up',
  ETIMEDOUT: 'it did not answer in time',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
}

function reasonOf(error: unknown, { host }: URL): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `${host} cannot be used: ${REASONS[code ?? ''] ?? code ?? message}`
}
