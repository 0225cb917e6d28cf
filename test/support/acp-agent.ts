/**
 * An agent of the Agent Client Protocol without a model, for what real agents do not do on demand. A prompt is one JSON
 * value, a deed or `{deeds: [...]}`: a text to say, a call `[method, params]` to make (what it brings is said),
 * `{update}` and `{send}` to tell something as it is (`$prompt` is the prompt's own id), `{burst, call}` to make a call
 * many times at once and say how many were not refused, `{echo: true}` to say what was in the prompt.
 *
 * `--deaf` answers nothing · `--slow=MS` thinks before it answers the first request · `--stranger` wants a sign-in ·
 * `--plain` has no modes · `--history=N` tells N messages after a conversation was loaded · `--forgetful` loads nothing ·
 * `--models` has models, `--model-options` has them in the newer shape · `--late-marks` answers what it does not know
 * when it has nothing else to do · `--one-by-one` answers nothing else while it works on a prompt
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
let conversation = 's'
let prompting = false
/** The prompt that is being answered, or the last one. */
let prompted = Promise.resolve()

function send(message: Json): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

function say(text: string): void {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
  tell(update)
}

function tell(update: Json): void {
  send({ method: 'session/update', params: { sessionId: conversation, update } })
}

type Deed =
  | string
  | [method: string, params: Json]
  | { update: Json }
  | { send: Json }
  | { burst: number; call: [string, Json] }
  | { echo: true }

async function perform(deed: Deed, id: unknown, texts: string[]): Promise<void> {
  if (typeof deed === 'string') say(deed)
  else if (Array.isArray(deed)) say(JSON.stringify(await call(...deed)))
  else if ('update' in deed) tell(deed.update)
  else if ('send' in deed) send({ ...deed.send, ...(deed.send['id'] === '$prompt' && { id }) })
  else if ('echo' in deed) say(texts.join('|'))
  else {
    const answers = await Promise.all(Array.from({ length: deed.burst }, () => call(...deed.call)))
    say(`${answers.filter((answer) => !('refused' in answer)).length} of ${answers.length}`)
  }
}

function call(method: string, params: Json): Promise<Json> {
  const id = typeof params['$id'] === 'number' ? params['$id'] : ++calls
  send({ id, method, params: { sessionId: conversation, ...params } })
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
  availableModes: ['default', 'plan', 'acceptEdits', 'yolo'].map((id) => ({ id, name: id })),
})

function models(): Json {
  const names = ['openrouter/author/slug', 'house/small']
  const options = names.map((value) => ({ value, name: value.toUpperCase() }))
  const newer = [{ id: 'model', category: 'model', type: 'select', currentValue: names[0], options }]
  const older = options.map(({ value: modelId, name }) => ({ modelId, name }))
  if (has('model-options')) return { configOptions: newer }
  return has('models') ? { models: { currentModelId: names[0], availableModels: older } } : {}
}

const METHODS: Record<string, (params: Json, id: unknown) => Json | Promise<Json>> = {
  async initialize() {
    await setTimeout(number('slow'))
    return { protocolVersion: 1, agentCapabilities: { loadSession: true }, agentInfo: { version: '1.2.3' } }
  },
  'session/new'() {
    if (has('stranger')) throw new Failed(-32000, 'Authentication required')
    return { sessionId: 's', ...(has('plain') ? {} : { modes: modes() }), ...models() }
  },
  'session/load'(params) {
    if (has('forgetful')) throw new Failed(-32603, 'No such conversation')
    conversation = String(params['sessionId'])
    void history()
    return { modes: modes() }
  },
  'session/set_mode'({ modeId }) {
    if (has('plain')) throw new Failed(-32601, 'Method not found')
    if (prompting) say(`now ${String(modeId)}`)
    return {}
  },
  'session/set_config_option': ({ value }) => ({ ...models(), chosen: value }),
  async 'session/prompt'(params, id) {
    cancelled = false
    const texts = (params['prompt'] as { text: string }[]).map(({ text }) => text)
    const wanted = JSON.parse(texts.at(-1)!) as Deed | { deeds: Deed[] }
    const deeds = typeof wanted === 'object' && 'deeds' in wanted ? wanted.deeds : [wanted]
    const { promise, resolve } = Promise.withResolvers<void>()
    prompting = true
    prompted = promise
    for (const deed of deeds) await perform(deed, id, texts)
    prompting = false
    resolve()
    return { stopReason: cancelled ? 'cancelled' : 'end_turn' }
  },
}

async function answer(id: unknown, method: string, params: Json): Promise<void> {
  try {
    const run = METHODS[method]
    if (!run && has('late-marks')) await setTimeout(100)
    if (has('one-by-one')) await prompted
    if (!run) throw new Failed(-32601, `Method not found: ${method}`)
    send({ id, result: await run(params, id) })
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
