import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Anthropic } from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { claudeAbsent } from '../support/claude-env.ts'
import { askUntil } from '../support/wait.ts'
import { processesIn, type Rig, startRig } from './rig.ts'

const MAX_HELD = 2
/** The sessions that have a name here. */
const NAMED = ['again', 'patience', 'killed', 'effort']

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
const asking = (content: Param['content'], more: object = {}) => ({
  model: 'claude-sonnet-4-6',
  max_tokens: 4000,
  messages: [{ role: 'user' as const, content }],
  ...more,
})
const textOf = ({ content }: Pick<Anthropic.Message, 'content'>): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const callsOf = ({ content }: Pick<Anthropic.Message, 'content'>) =>
  content.filter((block) => block.type === 'tool_use')

const NAMES = ['look', 'add']
const tools: Anthropic.Tool[] = NAMES.map((name) => ({
  name,
  description: `It can ${name}.`,
  input_schema: { type: 'object' },
}))
const functions: OpenAI.ChatCompletionTool[] = NAMES.map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' } },
}))

/** A directive for the scripted model, which knows the tools by the names that claude has for them. */
function calling(directive: string, ...names: string[]): string {
  const input = Buffer.from('{}').toString('base64')
  return `[[${directive} ${names.map((name) => `mcp__client__${name} ${input}`).join(' ')}]]`
}

/** What the model was asked last. */
interface Body {
  messages: unknown[]
  thinking?: { type: string }
  output_config?: { effort?: string }
}
const lastBody = (): Body => rig.model.requests.at(-1)!.body as Body
const lastAsked = (): string => JSON.stringify(lastBody().messages)

/** Claudes that work for the relay. */
function claudes(): number[] {
  return processesIn(rig.daemon.home)
    .filter(({ command }) => /^\S*claude\S* -p /.test(command))
    .map(({ pid }) => pid)
}

before(async () => {
  if (!claudeAbsent) {
    rig = await startRig({ CORRAL_RELAY_AGENT: 'claude', CORRAL_RELAY_MAX_HELD: String(MAX_HELD) })
  }
})
after(() => rig?.close())

describe('with the real claude, a session remembers what was said', { skip: claudeAbsent }, () => {
  const BREAKS: Record<string, (sticky: string) => Promise<void>> = {
    async 'a cut at max_tokens'(sticky) {
      const message = await client(sticky).messages.create(asking('[[words 50]]', { max_tokens: 5 }))
      assert.equal(message.stop_reason, 'max_tokens')
    },
    async 'a stop sequence'(sticky) {
      const message = await client(sticky).messages.create(
        asking('[[words 50]]', { stop_sequences: [' w4'] }),
      )
      assert.deepEqual([textOf(message), message.stop_reason], ['w1 w2 w3', 'stop_sequence'])
    },
    async 'a 429 of the model'(sticky) {
      await assert.rejects(client(sticky).messages.create(asking('[[fail 429]]')), { status: 429 })
    },
    async 'a 500 of the model'(sticky) {
      await assert.rejects(client(sticky).messages.create(asking('[[fail 500]]')), { status: 500 })
    },
    async 'a client that hangs up'(sticky) {
      const stream = client(sticky).messages.stream(asking('[[drip 5000 20]]'))
      for await (const event of stream) if (event.type === 'content_block_delta') break
      stream.abort()
    },
    async 'a tool call that nobody answers'(sticky) {
      const message = await client(sticky).messages.create(asking(calling('call', 'look'), { tools }))
      assert.equal(message.stop_reason, 'tool_use')
    },
  }

  NAMED.push(...Object.keys(BREAKS))
  for (const [what, happens] of Object.entries(BREAKS)) {
    test(`after ${what}, in either shape`, async () => {
      await client(what).messages.create(asking('[[remember PLUM]] [[say noted]]'))
      await happens(what)
      assert.equal(textOf(await client(what).messages.create(asking('[[recall]]'))), 'recall: PLUM')
      const completion = await openai(what).chat.completions.create({
        model: 'gpt-4o',
        messages: [{ role: 'user', content: '[[recall]]' }],
      })
      assert.equal(completion.choices[0]!.message.content, 'recall: PLUM')
    })
  }

  test('a call that is sent again after a 500 is told once', async () => {
    const sticky = client('again').withOptions({ maxRetries: 2 })
    await sticky.messages.create(asking('alpha'))
    // Claude itself tries again once.
    rig.model.troubles.push(500, 500)
    assert.match(textOf(await sticky.messages.create(asking('beta'))), /beta$/)
    assert.equal(rig.model.troubles.length, 0)
    const asked = lastAsked()
    assert.match(asked, /alpha[^]*echo: alpha[^]*beta/)
    assert.equal(asked.split('beta').length, 2, asked)
  })

  test('a call that is sent again after its client gave up is told once', async () => {
    await client('patience').messages.create(asking('alpha'))
    rig.model.troubles.push('silence')
    const gone = new AbortController()
    const asked = rig.model.next()
    const first = client('patience').messages.create(asking('beta'), { signal: gone.signal })
    await asked
    gone.abort()
    await assert.rejects(first)
    assert.match(textOf(await client('patience').messages.create(asking('beta'))), /beta$/)
    assert.match(lastAsked(), /alpha[^]*echo: alpha[^]*beta/)
    assert.equal(lastAsked().split('beta').length, 2)
  })

  test('over a kill -9 in the middle of an answer', async () => {
    await client('killed').messages.create(asking('[[remember FIG]] [[say noted]]'))
    const stream = client('killed').messages.stream(asking('[[drip 5000 20]]'))
    for await (const event of stream) {
      if (event.type !== 'content_block_delta') continue
      await rig.daemon.kill9()
      break
    }
    stream.abort()
    await rig.daemon.restart()
    assert.equal(textOf(await client('killed').messages.create(asking('[[recall]]'))), 'recall: FIG')
  })
})

describe('how long claude thinks', { skip: claudeAbsent }, () => {
  const THINKER = { model: 'claude-opus-4-6' }

  test('is its own business where nobody says', async () => {
    await client().messages.create({ ...asking('[[say x]]'), ...THINKER })
    assert.notEqual(lastBody().thinking?.type ?? 'disabled', 'disabled')
  })

  test('is not at all, if thinking is turned off', async () => {
    const thinking = { type: 'disabled' as const }
    await client().messages.create({ ...asking('[[say x]]'), ...THINKER, thinking })
    assert.equal(lastBody().thinking?.type ?? 'disabled', 'disabled')
    await openai().chat.completions.create({
      ...THINKER,
      messages: [{ role: 'user', content: '[[say x]]' }],
      reasoning_effort: 'none',
    })
    assert.equal(lastBody().thinking?.type ?? 'disabled', 'disabled')
  })

  test('is the effort that is asked for, in either shape, also in the middle of a session', async () => {
    for (const effort of ['low', 'high'] as const) {
      const asked = { ...asking('[[effort]]'), ...THINKER, output_config: { effort } }
      assert.equal(textOf(await client('effort').messages.create(asked)), `effort: ${effort}`)
      assert.equal(lastBody().output_config?.effort, effort)
    }
    const { choices } = await openai('effort').chat.completions.create({
      ...THINKER,
      messages: [{ role: 'user', content: '[[effort]]' }],
      reasoning_effort: 'medium',
    })
    assert.equal(choices[0]!.message.content, 'effort: medium')
    const nested = { ...asking('[[effort]]'), ...THINKER, reasoning: { effort: 'low' } }
    const response = await fetch(`${url()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(nested),
    })
    const body = (await response.json()) as { choices: { message: { content: string } }[] }
    assert.equal(body.choices[0]!.message.content, 'effort: low')
  })
})

describe('calls of the caller’s tools', { skip: claudeAbsent }, () => {
  test('come together, however slowly the model makes them', async () => {
    const question = calling('slowcall 1500', 'look', 'add')
    const message = await client().messages.create(asking(question, { tools }))
    assert.deepEqual(
      callsOf(message).map(({ name }) => name),
      ['look', 'add'],
    )
    const completion = await openai().chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: question }],
      tools: functions,
    })
    assert.equal(completion.choices[0]!.message.tool_calls?.length, 2)
    const results = callsOf(message).map(({ id, name }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: `${name} is done`,
    }))
    const messages: Param[] = [
      { role: 'user', content: question },
      { role: 'assistant', content: message.content },
      { role: 'user', content: results },
    ]
    const done = await client().messages.create({ ...asking('', { tools }), messages })
    assert.match(textOf(done), /look is done[^]*add is done/)
    assert.ok(!lastAsked().includes('<transcript>'), 'the same turn goes on')
  })

  test('come together when they are more than claude makes at once', async () => {
    const names = Array.from({ length: 105 }, (_, index) => NAMES[index % 2]!)
    const question = calling('call', ...names)
    const message = await client().messages.create(asking(question, { tools }))
    assert.deepEqual(
      callsOf(message).map(({ name }) => name),
      names,
    )
    const results = callsOf(message).map(({ id }, index) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: `<${index}>`,
    }))
    const messages: Param[] = [
      { role: 'user', content: question },
      { role: 'assistant', content: message.content },
      { role: 'user', content: results },
    ]
    const done = await client().messages.create({ ...asking('', { tools }), messages })
    assert.equal(done.stop_reason, 'end_turn')
    const asked = lastAsked()
    assert.ok(!asked.includes('<transcript>'), 'the same turn goes on')
    for (const { content } of results) assert.ok(asked.includes(content), content)
  })

  test('that nobody answers leave few processes, and late results are answered all the same', async () => {
    const question = calling('call', 'look')
    for (const name of NAMED)
      await fetch(`${url()}/v1/sessions/${encodeURIComponent(name)}`, { method: 'DELETE' })
    const held: Anthropic.Message[] = []
    for (let made = 0; made < MAX_HELD + 5; made++) {
      held.push(await client().messages.create(asking(question, { tools })))
    }
    const late = await openai().chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: question }],
      tools: functions,
    })
    const spares = async (): Promise<number> => {
      const body = (await (await fetch(`${url()}/v1/sessions`)).json()) as { pool: Record<string, number> }
      return body.pool['idle']! + body.pool['spawning']!
    }
    const settled = async (): Promise<number> => claudes().length - (await spares())
    await askUntil(settled, (count) => count <= MAX_HELD, 'processes that wait for a result')

    const answered = (message: Anthropic.Message): Param[] => [
      { role: 'user', content: question },
      { role: 'assistant', content: message.content },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: callsOf(message)[0]!.id, content: '[[say it is blue]]' },
        ],
      },
    ]
    const tell = async (message: Anthropic.Message): Promise<void> => {
      const done = await client().messages.create({ ...asking('', { tools }), messages: answered(message) })
      assert.equal(textOf(done), 'it is blue')
      assert.match(lastAsked(), /tool_call name=[^]*tool_result[^]*it is blue/)
    }
    await tell(held[0]!)
    await rig.daemon.kill9()
    await rig.daemon.restart()
    await tell(held[1]!)
    const message = late.choices[0]!.message
    // Others have come since: it was let go, too.
    for (let made = 0; made < MAX_HELD; made++) await client().messages.create(asking(question, { tools }))
    const completion = await openai().chat.completions.create({
      model: 'gpt-4o',
      messages: [
        { role: 'user', content: question },
        message,
        { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: '[[say it is green]]' },
      ],
      tools: functions,
    })
    assert.equal(completion.choices[0]!.message.content, 'it is green')
    assert.match(lastAsked(), /tool_call name=[^]*tool_result[^]*it is green/)
  })
})
