import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.ts'
import { arrival, askUntil } from '../../../support/wait.ts'

export type Json = Record<string, unknown>

export interface Answer {
  status: number
  headers: Headers
  body: Json
}

interface ClientOptions {
  sticky?: string
  maxRetries?: number
}

/** A daemon's relay, and the clients that speak to it. Addresses are read anew: a restart changes the port. */
export interface Relay {
  readonly daemon: TestDaemon
  readonly url: string
  anthropic(options?: ClientOptions): Anthropic
  openai(options?: ClientOptions): OpenAI
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  send(method: string, path: string, init?: RequestInit): Promise<Answer>
  /** What the relay has written down about the calls so far. */
  calls(): Promise<Json[]>
  /** Sticky sessions, and calls that stand for themselves and are not over. */
  active(): Promise<number>
}

/** The demo agent behind a real daemon, until the file's tests are over. */
export async function startRelay({ env, ...options }: TestDaemonOptions = {}): Promise<Relay> {
  const daemon = await startDaemon({ ...options, env: { CORRAL_RELAY_AGENT: 'demo', ...env } })
  after(() => daemon.stop())
  const url = (): string => daemon.listeners['relay']!

  async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${url()}${path}`, { method, ...init })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text ? (JSON.parse(text) as Json) : {},
    }
  }

  return {
    daemon,
    get url() {
      return url()
    },
    anthropic: ({ sticky, maxRetries = 0 } = {}) =>
      new Anthropic({ apiKey: 'none', baseURL: url(), maxRetries, defaultHeaders: header(sticky) }),
    openai: ({ sticky, maxRetries = 0 } = {}) =>
      new OpenAI({ apiKey: 'none', baseURL: `${url()}/v1`, maxRetries, defaultHeaders: header(sticky) }),
    send,
    get: (path) => send('GET', path),
    post: (path, body = {}, headers = {}) =>
      send('POST', path, {
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    calls: async () => (await send('GET', '/v1/recent-calls')).body['calls'] as Json[],
    active: async () => ((await send('GET', '/v1/sessions')).body['pool'] as { active: number }).active,
  }
}

let shared: Promise<Relay> | null = null

/** The same one for all who ask. */
export function sharedRelay(): Promise<Relay> {
  return (shared ??= startRelay())
}

function header(sticky: string | undefined): Record<string, string> {
  return sticky === undefined ? {} : { 'X-IR-Session-ID': sticky }
}

export const MODEL = 'claude-sonnet-4-6'

/** A message to the model, with room for an answer. */
export function saying(content: Anthropic.MessageParam['content']) {
  return { model: MODEL, max_tokens: 1000, messages: [{ role: 'user' as const, content }] }
}

/** The same in the other shape. */
export function chatting(content: string) {
  return { model: 'gpt-4o', messages: [{ role: 'user' as const, content }] }
}

export function textOf({ content }: Pick<Anthropic.Message, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

export function callsOf({ content }: Pick<Anthropic.Message, 'content'>): Anthropic.ToolUseBlock[] {
  return content.filter((block) => block.type === 'tool_use')
}

/** A directive that has the agent call these tools at once. */
export function calling(...calls: [name: string, input: object][]): string {
  const pairs = calls.map(
    ([name, input]) => `${name} ${Buffer.from(JSON.stringify(input)).toString('base64')}`,
  )
  return `[[call ${pairs.join(' ')}]]`
}

export const TOOLS: Anthropic.Tool[] = ['look', 'add'].map((name) => ({
  name,
  description: `It can ${name}.`,
  input_schema: { type: 'object' },
}))

export const FUNCTIONS: OpenAI.ChatCompletionFunctionTool[] = TOOLS.map(({ name }) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' } },
}))

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Nobody is left that a call has started, but for so many. */
export async function nobodyLeft(relay: Relay, but: number): Promise<void> {
  await askUntil(relay.active, (left) => left === but, `${but} are left`)
}

/** A file of the relay's own. */
export function ownFile({ daemon }: Relay, name: string): string {
  const path = join(daemon.corralHome, 'relay', name)
  if (!existsSync(path)) throw new Error(`there is no ${path}`)
  return path
}

/** Server-sent events of a stream that does not end by itself. */
export interface Sse {
  readonly seen: { event: string; id: string | null; data: Json }[]
  next(): Promise<{ event: string; id: string | null; data: Json }>
  close(): void
}

export async function openSse(url: string, headers: Record<string, string> = {}): Promise<Sse> {
  const closing = new AbortController()
  const response = await fetch(url, { headers, signal: closing.signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const seen: Awaited<ReturnType<Sse['next']>>[] = []
  const waiting: typeof seen = []
  let rest = ''
  return {
    seen,
    async next() {
      while (waiting.length === 0) {
        const { value, done } = await arrival(reader.read(), 'a server-sent event')
        if (done) throw new Error('the stream has ended')
        const frames = (rest + value).split('\n\n')
        rest = frames.pop()!
        waiting.push(...frames.filter((frame) => !frame.startsWith(':')).map(frameOf))
      }
      seen.push(waiting[0]!)
      return waiting.shift()!
    },
    close: () => closing.abort(),
  }
}

function frameOf(frame: string): Awaited<ReturnType<Sse['next']>> {
  const line = (name: string): string | null => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? null
  return { event: line('event') ?? 'message', id: line('id'), data: JSON.parse(line('data') ?? '{}') as Json }
}
