import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  Anthropic,
  APIError,
  AuthenticationError,
  InternalServerError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { agentHome } from '../support/agent-home.ts'
import { CLAUDE, claudeAbsent, claudeEnv } from '../support/claude-env.ts'
import { askUntil } from '../support/wait.ts'
import { type Rig, startRig, words } from './rig.ts'

const run = promisify(execFile)
let rig: Rig
const url = (): string => rig.daemon.listeners['relay']!
const options = (sticky?: string) => ({
  apiKey: 'none',
  maxRetries: 0,
  defaultHeaders: sticky === undefined ? {} : { 'X-IR-Session-ID': sticky },
})
const client = (sticky?: string): Anthropic => new Anthropic({ ...options(sticky), baseURL: url() })
const openai = (sticky?: string): OpenAI => new OpenAI({ ...options(sticky), baseURL: `${url()}/v1` })

type Param = Anthropic.MessageParam
const user = (content: Param['content']): Param => ({ role: 'user', content })
const asking = (content: Param['content']) => ({
  model: 'claude-sonnet-4-6',
  max_tokens: 4000,
  messages: [user(content)],
})
const textOf = ({ content }: Pick<Anthropic.Message, 'content'>): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const callsOf = ({ content }: Pick<Anthropic.Message, 'content'>) =>
  content.filter((block) => block.type === 'tool_use')

const tools: Anthropic.Tool[] = ['look', 'add'].map((name) => ({
  name,
  description: `It can ${name}.`,
  input_schema: { type: 'object' },
}))

/** A directive for the scripted model, which knows the tools by the names that claude has for them. */
function calling(...calls: [name: string, input: object][]): string {
  const pairs = calls.map(
    ([name, input]) => `mcp__client__${name} ${Buffer.from(JSON.stringify(input)).toString('base64')}`,
  )
  return `[[call ${pairs.join(' ')}]]`
}

function answered(question: Param, held: Anthropic.Message, said: (name: string) => string): Param[] {
  const content = callsOf(held).map(({ id, name }) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: said(name),
  }))
  return [question, { role: 'assistant', content: held.content }, { role: 'user', content }]
}

async function pool(): Promise<{ idle: number; active: number; spawning: number }> {
  const body = (await (await fetch(`${url()}/v1/sessions`)).json()) as { pool: never }
  return body.pool
}

async function post(path: string, body: object = {}): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url()}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as Record<string, unknown>
}

/** What the model was asked last. */
const lastAsked = (): string => JSON.stringify(rig.model.requests.at(-1)!.body)

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF').toString(
  'base64',
)

describe('the relay with the real claude', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig({ CORRAL_RELAY_AGENT: 'claude' })
  })
  after(() => rig.close())

  test('a text, with its usage', async () => {
    const message = await client().messages.create(asking('[[say hello there]]'))
    assert.deepEqual([textOf(message), message.stop_reason], ['hello there', 'end_turn'])
    assert.equal((message as unknown as { provider: string }).provider, 'claude-pty')
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0)
    const completion = await openai().chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '[[say OK]]' }],
    })
    assert.equal(completion.choices[0]!.message.content, 'OK')
  })

  test('a stream, in pieces', async () => {
    const heard: string[] = []
    const stream = client('stream').messages.stream(asking('[[drip 12 5]]'))
    stream.on('text', (text) => heard.push(text))
    assert.equal(textOf(await stream.finalMessage()), words(12))
    assert.ok(heard.length > 3)
    const other = openai('stream').chat.completions.stream({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '[[drip 5 5]]' }],
    })
    assert.equal(await other.finalContent(), words(5))
  })

  test('the system prompt is the caller’s, and there are no tools but the caller’s', async () => {
    const asked = { ...asking('[[system]]'), system: 'be terse [[sysword TERSE]]', tools }
    assert.equal(textOf(await client().messages.create(asked)), 'system: TERSE')
    const { tools: seen = [] } = rig.model.requests.at(-1)!.body as { tools?: { name: string }[] }
    assert.deepEqual(seen.map(({ name }) => name).toSorted(), ['mcp__client__add', 'mcp__client__look'])
    await client().messages.create(asking('[[say x]]'))
    const { tools: none = [] } = rig.model.requests.at(-1)!.body as { tools?: unknown[] }
    assert.deepEqual(none, [])
  })

  test('a session with a name remembers, and is sent only what is new', async () => {
    const first = user('[[remember PLUM]] [[say noted]]')
    const asked = asking('')
    await client('sticky').messages.create({ ...asked, messages: [first] })
    const messages: Param[] = [first, { role: 'assistant', content: 'noted' }, user('[[recall]]')]
    assert.equal(textOf(await client('sticky').messages.create({ ...asked, messages })), 'recall: PLUM')
    assert.ok(!lastAsked().includes('<transcript>'))
    assert.equal(textOf(await client('sticky').messages.create(asking('[[recall]]'))), 'recall: PLUM')
    await post('/v1/sessions/sticky/reset')
    assert.equal(textOf(await client('sticky').messages.create(asking('[[recall]]'))), 'recall: none')
  })

  test('a tool, and two at once', async () => {
    for (const calls of [
      [['look', { at: 'it' }]],
      [
        ['look', { n: 1 }],
        ['add', { n: 2 }],
      ],
    ] as [string, object][][]) {
      const question = user(calling(...calls))
      const asked = { ...asking(''), tools }
      const held = await client().messages.create({ ...asked, messages: [question] })
      assert.equal(held.stop_reason, 'tool_use')
      assert.deepEqual(
        callsOf(held).map(({ name, input }) => [name, input]),
        calls,
      )
      const messages = answered(question, held, (name) => `${name} is done`)
      const done = await client().messages.create({ ...asked, messages })
      for (const [name] of calls) assert.match(textOf(done), new RegExp(`${name} is done`))
      assert.ok(!lastAsked().includes('<transcript>'), 'the same turn goes on')
    }
  })

  test('an image, a PDF, and an image that a tool brings, reach the model', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PNG }
    const pdf = { type: 'base64' as const, media_type: 'application/pdf' as const, data: PDF }
    const text = { type: 'text' as const, text: '[[attachments]]' }
    const shown = await client().messages.create(asking([{ type: 'image', source }, text]))
    assert.match(textOf(shown), /^attachments: 1 image\/png/)
    const read = await client().messages.create(asking([{ type: 'document', source: pdf }, text]))
    assert.match(textOf(read), /^attachments: 1 application\/pdf/)
    const question = user(calling(['look', {}]))
    const asked = { ...asking(''), tools }
    const held = await client().messages.create({ ...asked, messages: [question] })
    const content = [{ type: 'image' as const, source }]
    const result = { type: 'tool_result' as const, tool_use_id: callsOf(held)[0]!.id, content }
    await client().messages.create({
      ...asked,
      messages: [question, { role: 'assistant', content: held.content }, user([result])],
    })
    assert.ok(lastAsked().includes('"type":"image"'))
  })

  test('failures of the model keep their status', async () => {
    for (const [status, Class] of [
      [401, AuthenticationError],
      [429, RateLimitError],
      [529, InternalServerError],
    ] as const) {
      await assert.rejects(client().messages.create(asking(`[[fail ${status}]]`)), (error) => {
        assert.ok(error instanceof Class && error instanceof APIError, String(error))
        assert.equal(error.status, status)
        return true
      })
    }
  })

  test('a client that goes stops its turn, and its session is free', async () => {
    const stream = client('goes').messages.stream(asking('[[drip 5000 20]]'))
    for await (const event of stream) if (event.type === 'content_block_delta') break
    stream.abort()
    assert.equal(textOf(await client('goes').messages.create(asking('[[say free]]'))), 'free')
  })

  test('the pool is warmed, and a reset takes from it', async () => {
    const warm = await post('/v1/warmup', { count: 1, wait: true })
    assert.deepEqual([warm['ok'], Number(warm['idle']) >= 1], [true, true])
    const message = await client('warm').messages.create({
      ...asking('[[system]]'),
      system: '[[sysword LATE]]',
    })
    assert.equal(textOf(message), 'system: LATE', 'one that waited takes any prompt')
    const reset = await post('/v1/sessions/warm/reset')
    assert.deepEqual([reset['ok'], reset['session_id']], [true, 'warm'])
    await askUntil(pool, ({ idle }) => idle >= 1, 'one waits')
  })

  test('claude itself is a client: it gets its answers, and its tools are called', async () => {
    const home = await agentHome('claude', rig.model)
    try {
      const token = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_AUTH_TOKEN: 'none' }
      const env = { ...home.env, ...claudeEnv(url()), ...token }
      const outer = async (prompt: string): Promise<string> => {
        const args = ['-p', prompt, '--allowedTools=Bash']
        const running = run(CLAUDE, args, { cwd: home.work, env, timeout: 60_000 })
        running.child.stdin?.end()
        return (await running).stdout.trim()
      }
      assert.equal(await outer('[[say by way of the relay]]'), 'by way of the relay')
      const said = await outer(calling(['Bash', { command: 'echo made > made.txt && cat made.txt' }]))
      assert.match(said, /made/)
      assert.equal(readFileSync(join(home.work, 'made.txt'), 'utf8'), 'made\n')
    } finally {
      await home.close()
    }
  })

  test('calls that wait outlive a kill -9 of the daemon', async () => {
    const question = user(calling(['look', { n: 1 }], ['add', { n: 2 }]))
    const asked = { ...asking(''), tools }
    const held = await client('durable').messages.create({ ...asked, messages: [question] })
    assert.equal(callsOf(held).length, 2)
    await rig.daemon.kill9()
    await rig.daemon.restart()
    const messages = answered(question, held, (name) => `${name} is done`)
    const done = await client('durable').messages.create({ ...asked, messages })
    assert.match(textOf(done), /look is done[^]*add is done/)
    assert.ok(!lastAsked().includes('<transcript>'), 'the same turn goes on')
  })
})
