import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { createLineSplitter } from '../../../src/transports/ndjson.ts'
import type { TestDaemon } from '../../support/daemon.ts'
import { MAIN } from '../../support/program.ts'
import { arrival, until } from '../../support/wait.ts'

export interface WireError {
  code: number
  message: string
  data: { reason: string; kind?: string; field?: string; method?: string; supported?: string }
}

export type Result = Record<string, unknown>

export interface Line {
  jsonrpc: string
  id?: string | number | null
  result?: Result
  error?: WireError
  method?: string
  params?: EventParams
}

export interface Image {
  path: string
  mimeType: string
  dataUrl: string
  byteSize: number
}

export interface Message {
  id: number
  kind: string
  text: string
  images?: Image[]
}

export interface Executed {
  name: string
  ok: boolean
  input: unknown
  result: string
  error?: string
  callId: string
}

/** What the payloads of events may have. */
export interface Payload extends Result {
  session_id: string
  turn_id: string
  pending: boolean
  status_label: string
  /** Text in errors, an object in `session.message.appended`. */
  message: Message & string
  chunk: { thoughts: string[]; answerText: string; segments: { kind: string; text: string }[] }
  data: {
    toolRound: number
    call: { name: string; input: unknown; providerToolName: string; callId: string }
    executed: Executed & Executed[]
  }
  reason: string
  stage: string
}

export interface EventParams {
  type: string
  timestamp: string
  seq: number
  payload: Payload
}

export interface SessionState {
  id: string
  pending: boolean
  statusLabel: string
  messages: Message[]
  history: { role: string; text: string; images?: Image[] }[]
  queue: { id: string; text: string; images: Image[]; enqueuedAt: string }[]
  pendingSteerCount: number
  conversationProvider: string | null
}

export type Where = Pick<TestDaemon, 'env' | 'project'>

/** A program that has started `corral rpc`. */
export interface Client {
  child: ReturnType<typeof spawn>
  exited: Promise<number | null>
  /** All that came, in order. */
  lines: Line[]
  stderr(): string
  write(text: string | Buffer): void
  /** The whole answer. */
  ask(method: string, params?: unknown): Promise<Line>
  /** The result; an error fails the test. */
  call<T = Result>(method: string, params?: unknown): Promise<T>
  /** The error that it must end with. */
  fails(method: string, params?: unknown): Promise<WireError>
  /** Events so far, of this type or of all. */
  events(type?: string): EventParams[]
  /** The first event of this type after so many lines that fits. */
  event(type: string, fits?: (payload: Payload) => boolean, from?: number): Promise<EventParams>
  state(sessionId: string): Promise<SessionState>
  /** Waits for this many lines with id null. */
  unnamed(count: number): Promise<Line[]>
  close(): Promise<void>
}

/** A real process, ended after the test; what it printed must have been protocol and nothing else. */
export function clientFor(t: TestContext, where: Where, args: string[] = []): Client {
  const client = startClient(where, args)
  t.after(() => client.close())
  return client
}

export function startClient({ env, project }: Where, args: string[] = []): Client {
  const child = spawn(process.execPath, [MAIN, 'rpc', ...args], { env, cwd: project })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const lines: Line[] = []
  const answers = new Map<Line['id'], (line: Line) => void>()
  let stderr = ''
  let nextId = 1
  const splitter = createLineSplitter({
    onLine(text) {
      const line = JSON.parse(text.toString()) as Line
      lines.push(line)
      if (line.id !== undefined) answers.get(line.id)?.(line)
    },
    maxLineBytes: Infinity,
  })
  child.stdout.on('data', (data: Buffer) => splitter.push(data))
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  child.stdin.on('error', () => {})
  async function close(): Promise<void> {
    child.stdin.destroy()
    child.stdout.resume()
    if (child.exitCode === null) child.kill('SIGTERM')
    await arrival(exited, 'corral rpc ends').finally(() => child.kill('SIGKILL'))
    assert.equal(splitter.held, 0)
    for (const one of lines) assert.equal(one.jsonrpc, '2.0')
  }

  async function ask(method: string, params?: unknown): Promise<Line> {
    const id = `${method} ${nextId++}`
    const { promise, resolve } = Promise.withResolvers<Line>()
    answers.set(id, resolve)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return arrival(promise, `the answer to ${id}`)
  }

  async function call<T>(method: string, params?: unknown): Promise<T> {
    const { result, error } = await ask(method, params)
    assert.ok(result, JSON.stringify(error))
    return result as T
  }

  const events: Client['events'] = (type) =>
    lines.flatMap(({ params }) => (params && (type === undefined || params.type === type) ? [params] : []))

  return {
    child,
    exited,
    lines,
    stderr: () => stderr,
    write: (text) => void child.stdin.write(text),
    ask,
    call,
    async fails(method, params) {
      const { error, result } = await ask(method, params)
      assert.ok(error, JSON.stringify(result))
      return error
    },
    events,
    event: (type, fits = () => true, from = 0) =>
      until(
        () => lines.slice(from).find(({ params }) => params?.type === type && fits(params.payload))?.params,
        type,
      ),
    state: (sessionId) => call('session.get', { session_id: sessionId }),
    unnamed: (count) =>
      until(() => {
        const found = lines.filter(({ id }) => id === null)
        return found.length >= count && found
      }, `${count} answers without id`),
    close,
  }
}

export const DEMO = { model_id: 'demo', provider: 'demo', thinking_level: 'HIGH' }

/** A session of the demo agent. */
export async function demoSession(client: Client, title?: string): Promise<string> {
  await client.call('model.select', DEMO)
  return (await client.call<{ session_id: string }>('session.create', { title })).session_id
}

export interface Sent {
  turn_id: string
  accepted: boolean
  queued: boolean
}

/** Sends, and waits until the session is ready again; the lines from the request on. */
export async function turn(client: Client, sessionId: string, text: string, more: object = {}) {
  const from = client.lines.length
  const sent = await client.call<Sent>('session.send', { session_id: sessionId, text, ...more })
  await client.event('session.status', (it) => it.session_id === sessionId && !it.pending, from)
  return { turnId: sent.turn_id, lines: client.lines.slice(from) }
}

/** Events of a session in short, responses as `=`. */
export function shape(lines: readonly Line[]): string[] {
  return lines.flatMap(({ params, result, error }) => {
    if (result) return ['=']
    if (error) return ['!']
    if (params!.type === 'session.context.estimate') return ['estimate']
    const { status_label, message } = params!.payload
    const type = params!.type.replace('session.', '')
    if (type === 'status') return [status_label]
    return [type === 'message.appended' ? message.kind : type]
  })
}

/** Of the signals that `corral rpc` minds, the only one that Node itself does not. */
export function catchesHangups(pid: number): boolean {
  const [, caught] = /SigCgt:\s+(\w+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return (BigInt(`0x${caught}`) & 1n) === 1n
}

/** What tests of turns say and look for, over whichever client there is by then. */
export function talking(client: () => Client) {
  return {
    /** Waits for a status of the session, from a line on. */
    status: (sessionId: string, label: string | RegExp, from = 0) =>
      client().event(
        'session.status',
        (it) =>
          it.session_id === sessionId &&
          (typeof label === 'string' ? it.status_label === label : label.test(it.status_label)),
        from,
      ),
    /** Sends and does not wait for the end. */
    send: (sessionId: string, text: string, more: object = {}): Promise<Sent> =>
      client().call('session.send', { session_id: sessionId, text, ...more }),
    /** Only the lines of this session, and answers. */
    about: (sessionId: string, from: number) =>
      client()
        .lines.slice(from)
        .filter(({ params }) => !params || params.payload.session_id === sessionId),
  }
}
