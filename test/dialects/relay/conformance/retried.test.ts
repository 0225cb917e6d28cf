import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startScriptedModel } from '../../../support/model/server.ts'
import { calling, callsOf, chatting, MODEL, startRelay, TOOLS } from './rig.ts'

/*
 * SDKs send the same request again when it has failed or nothing came. The model behind the relay shows what it was told.
 */

const model = await startScriptedModel()
after(() => model.close())
const relay = await startRelay({ env: { CORRAL_RELAY_AGENT: '', CORRAL_CLAUDE_BIN: '/no/such/claude' } })
const upstream = { name: 'model', kind: 'anthropic', baseUrl: model.url, apiKey: 'sk-up' }
await relay.send('PATCH', '/v1/settings', {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ upstreams: [upstream] }),
})

/** Clients that ask again. */
const RETRYING = { apiKey: 'none', maxRetries: 2 }
/** How long they wait where nothing comes: for longer than an answer takes on a busy machine. */
const SILENCE_MS = 5000

const CLIENTS: Record<string, (sticky: string, content: string, timeout?: number) => Promise<string>> = {
  async anthropic(sticky, content, timeout = 60_000) {
    const defaultHeaders = { 'X-IR-Session-ID': sticky }
    const client = new Anthropic({ ...RETRYING, timeout, baseURL: relay.url, defaultHeaders })
    const message = await client.messages.create({
      model: MODEL,
      max_tokens: 1000,
      messages: [{ role: 'user', content }],
    })
    return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
  async openai(sticky, content, timeout = 60_000) {
    const defaultHeaders = { 'X-IR-Session-ID': sticky }
    const client = new OpenAI({ ...RETRYING, timeout, baseURL: `${relay.url}/v1`, defaultHeaders })
    const { choices } = await client.chat.completions.create(chatting(content))
    return choices[0]!.message.content ?? ''
  },
}

/** The conversation that the model was told last. */
function told(): string[] {
  const { messages } = model.requests.at(-1)!.body as { messages: { role: string; content: unknown }[] }
  return messages.map(({ role, content }) => `${role}: ${textOf(content)}`)
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('|')
}

for (const [shape, say] of Object.entries(CLIENTS)) {
  describe(`${shape}: a message that is sent again`, () => {
    for (const trouble of [429, 500, 503, 'silence'] as const) {
      test(`after ${trouble}, is told once, with all that was said before`, async () => {
        const name = `${shape} ${trouble}`
        assert.equal(await say(name, 'alpha'), 'echo: alpha')
        model.troubles.push(trouble)
        const timeout = trouble === 'silence' ? SILENCE_MS : undefined
        assert.equal(await say(name, 'beta', timeout), 'echo: beta')
        assert.deepEqual(told(), ['user: alpha', 'assistant: echo: alpha', 'user: beta'])
        assert.equal(model.troubles.length, 0, 'it was asked twice')
        await say(name, 'gamma')
        assert.deepEqual(told().slice(2), ['user: beta', 'assistant: echo: beta', 'user: gamma'])
      })
    }

    test('and was answered before, is another one', async () => {
      const name = `${shape} twice`
      await say(name, 'on')
      await say(name, 'on')
      assert.deepEqual(told(), ['user: on', 'assistant: echo: on', 'user: on'])
    })
  })
}

test('an API is told that a call of a tool had no result', async () => {
  const client = relay.anthropic({ sticky: 'unanswered' })
  const asked = { model: MODEL, max_tokens: 1000 }
  const question = { role: 'user' as const, content: calling(['look', {}]) }
  const held = await client.messages.create({ ...asked, messages: [question], tools: TOOLS })
  await client.messages.create({ ...asked, messages: [{ role: 'user', content: '[[say well]]' }] })
  const { messages, tools } = model.requests.at(-1)!.body as {
    messages: { content: unknown }[]
    tools: unknown[]
  }
  assert.equal(tools.length, TOOLS.length)
  const content = [{ type: 'text', text: 'There is no result of this call.' }]
  const result = { type: 'tool_result', tool_use_id: callsOf(held)[0]!.id, content, is_error: true }
  assert.deepEqual(messages.at(-1)!.content, [result, { type: 'text', text: '[[say well]]' }])
})

test('whoever answers is told what others have said: memory is the session’s', async () => {
  const say = CLIENTS['anthropic']!
  await say('handed over', 'alpha')
  await relay.send('PATCH', '/v1/settings', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'demo' }),
  })
  assert.match(await say('handed over', 'beta'), /alpha[^]*echo: alpha[^]*beta/)
})
