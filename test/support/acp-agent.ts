/**
 * An agent of the Agent Client Protocol without a model, for what real agents do not do on demand. A prompt is one JSON
 * value: a text to say, or a call `[method, params]` to make; what the call brings is said.
 *
 * `--deaf` answers nothing · `--slow=MS` thinks before it answers the first request · `--stranger` wants a sign-in ·
 * `--plain` has no modes · `--history=N` tells N messages after a conversation was loaded · `--forgetful` loads nothing
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { createLineSplitter } from '../../src/transports/ndjson.ts'

type Json = Record<string, unknown>

const has = (name: string): boolean => process.argv.includes(`--${name}`)
const number = (name: string): number =>
  Number(process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? 0)

const waiting = new Map<number, (answer: Json) => void>()
let calls = 0
let cancelled = false

function send(message: Json): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

function say(text: string): void {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
  send({ method: 'session/update', params: { sessionId: 's', update } })
}

function call(method: string, params: Json): Promise<Json> {
  const id = ++calls
  send({ id, method, params: { sessionId: 's', ...params } })
  return new Promise((resolve) => waiting.set(id, resolve))
}

class Failed extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

async function history(): Promise<void> {
  for (let told = 0; told < number('history'); told++) {
    say(`history ${told}`)
    await setImmediate()
  }
}

const modes = () => ({
  currentModeId: 'default',
  availableModes: ['default', 'plan'].map((id) => ({ id, name: id })),
})

const METHODS: Record<string, (params: Json) => Json | Promise<Json>> = {
  async initialize() {
    await setTimeout(number('slow'))
    return { protocolVersion: 1, agentCapabilities: { loadSession: true }, agentInfo: { version: '1.2.3' } }
  },
  'session/new'() {
    if (has('stranger')) throw new Failed(-32000, 'Authentication required')
    return { sessionId: 's', ...(has('plain') ? {} : { modes: modes() }) }
  },
  'session/load'() {
    if (has('forgetful')) throw new Failed(-32603, 'No such conversation')
    void history()
    return { modes: modes() }
  },
  'session/set_mode'() {
    if (has('plain')) throw new Failed(-32601, 'Method not found')
    return {}
  },
  async 'session/prompt'(params) {
    cancelled = false
    const [{ text }] = params['prompt'] as [{ text: string }]
    const wanted = JSON.parse(text) as string | [string, Json]
    if (typeof wanted === 'string') say(wanted)
    else say(JSON.stringify(await call(...wanted)))
    return { stopReason: cancelled ? 'cancelled' : 'end_turn' }
  },
}

async function answer(id: unknown, method: string, params: Json): Promise<void> {
  try {
    const run = METHODS[method]
    if (!run) throw new Failed(-32601, `Method not found: ${method}`)
    send({ id, result: await run(params) })
  } catch (error) {
    send({ id, error: { code: (error as Failed).code ?? -32603, message: (error as Error).message } })
  }
}

function receive(message: Json): void {
  const { id, method, params, ...rest } = message as Json & { id: number; method?: string; params: Json }
  if (method === 'session/cancel') cancelled = true
  else if (method !== undefined) void answer(id, method, params)
  else
    waiting.get(id)?.((rest['result'] as Json | undefined) ?? { refused: (rest['error'] as Json)['message'] })
}

function receiveLine(line: Buffer): void {
  if (line.length > 0) receive(JSON.parse(line.toString()) as Json)
}

const lines = createLineSplitter({ onLine: receiveLine })
process.stdin.on('data', (bytes: Buffer) => (has('deaf') ? undefined : lines.push(bytes)))
