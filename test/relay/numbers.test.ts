import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Block } from '../../src/relay/ask.ts'
import { modelList, modelView } from '../../src/dialects/relay/views.ts'
import { modelsOf, named } from '../../src/relay/models.ts'
import { costOf, priceOf, PRICES, withOwnPrices } from '../../src/relay/prices.ts'
import { inputTokens } from '../../src/relay/tokens.ts'
import { base64, PNG, refuses } from './refusing.ts'
import { clientsOf, json } from './sdk.ts'

function tokensOf(...content: Block[]): number {
  return inputTokens({ system: null, messages: [{ role: 'user', content }], tools: [] })
}

test('four bytes are a token, over all that is sent', () => {
  assert.equal(tokensOf({ type: 'text', text: 'abcd' }), 1)
  assert.equal(tokensOf({ type: 'text', text: 'abcde' }), 2)
  assert.equal(tokensOf({ type: 'text', text: 'üü' }, { type: 'text', text: '👋' }), 2)
  assert.equal(tokensOf({ type: 'tool_use', id: 'x', name: 'name', input: { a: 1 } }), 3)
  const result = { type: 'text' as const, text: 'x'.repeat(40) }
  assert.equal(tokensOf({ type: 'tool_result', toolUseId: 'x', content: [result], isError: false }), 10)
  const tool = { name: 'abcd', description: 'abcdefgh', inputSchema: { type: 'x' } }
  assert.equal(inputTokens({ system: 'x'.repeat(8), messages: [], tools: [tool] }), 2 + 1 + 2 + 3)
})

test('images are flat, texts are read, pages are guessed, thinking is free', () => {
  const large = Buffer.alloc(300_000).toString('base64')
  const image = (data: string): number => tokensOf({ type: 'image', mediaType: 'image/png', data })
  assert.equal(image(PNG), 1_600)
  assert.equal(image(large), 1_600)
  const paper = (mediaType: string, data: string): number =>
    tokensOf({ type: 'document', mediaType, data, title: null })
  assert.equal(paper('text/plain', base64('x'.repeat(40))), 10)
  assert.equal(paper('application/pdf', large), 12_500)
  assert.equal(tokensOf({ type: 'thinking', text: 'hm' }), 0)
})

test('a price is found by the id, by what it begins with, by the family', () => {
  const price = (model: string): number => priceOf(model, PRICES).input
  assert.equal(price('claude-haiku-4-5'), 0.8)
  assert.equal(price('claude-sonnet-4-20250514'), 3)
  assert.equal(price('anthropic/claude-opus-5'), 15)
  assert.equal(price('gpt-4o-2024-08-06'), 2.5)
  assert.equal(price('gpt-4o-mini-2024-07-18'), 0.15)
  assert.equal(price('o3-mini'), 1.1)
  assert.equal(price('llama3.1:70b'), 0)
  assert.equal(price('never-heard-of'), 3)
  assert.equal(price('__proto__'), 3)
})

test('what a call would have cost', () => {
  assert.equal(costOf('claude-opus-4-6', { inputTokens: 1_000_000, outputTokens: 100_000 }, PRICES), 22.5)
})

test("a user's own prices come first, also for a family", () => {
  const own = withOwnPrices({
    'my-model': { input: 1, output: 2 },
    'claude-opus-4-6': { input: 5, output: 25 },
  })
  assert.equal(priceOf('my-model:latest', own).output, 2)
  assert.equal(priceOf('claude-opus-9', own).input, 5)
  assert.equal(priceOf('gpt-4o', own).input, 2.5)
  refuses(withOwnPrices, [], 'prices')
  refuses(withOwnPrices, { x: 3 }, 'prices.x')
  refuses(withOwnPrices, { x: { input: 1 } }, 'prices.x.output', /missing/)
  refuses(withOwnPrices, { x: { input: -1, output: 1 } }, 'prices.x.input')
})

test('both SDKs list models', async (t) => {
  const ids = ['claude-sonnet-4-6', 'gpt-4o', 'llama3.1']
  const { anthropic, openai } = await clientsOf(t, json(modelList(ids.map(named))))
  const listed: string[] = []
  for await (const model of anthropic.models.list())
    listed.push(`${model.id} ${model.type} ${model.display_name}`)
  for await (const model of openai.models.list()) listed.push(`${model.id} ${model.object} ${model.owned_by}`)
  assert.deepEqual(listed, [
    ...ids.map((id) => `${id} model ${id}`),
    'claude-sonnet-4-6 model anthropic',
    'gpt-4o model openai',
    'llama3.1 model local',
  ])
  assert.deepEqual(modelList([]).first_id, null)
})

test('both SDKs look at one model', async (t) => {
  const { anthropic, openai } = await clientsOf(t, json(modelView(named('claude-sonnet-4-6'))))
  assert.equal((await anthropic.models.retrieve('claude-sonnet-4-6')).created_at, '1970-01-01T00:00:00Z')
  assert.equal((await openai.models.retrieve('claude-sonnet-4-6')).created, 0)
})

test('an agent’s own models come first, with its names and whose they are', () => {
  const told = [
    { id: 'fable', name: 'Fable', contextWindow: 1000 },
    { id: 'claude-opus-4-6', name: '' },
  ]
  const upstreams = [{ model: 'llama3.1', models: { fast: 'qwen' } }, {}]
  const models = modelsOf({ agent: 'claude', told, upstreams, priced: ['mine', 'fast'] })
  assert.deepEqual(
    models.map(({ id, ownedBy }) => `${id} ${ownedBy}`),
    [
      'fable anthropic',
      'claude-opus-4-6 anthropic',
      'claude-sonnet-4-6 anthropic',
      'claude-haiku-4-5 anthropic',
      'gpt-4o openai',
      'mine local',
      'fast local',
      'llama3.1 local',
    ],
  )
  assert.deepEqual(
    [modelView(models[0]!).max_input_tokens, modelView(models[1]!).display_name],
    [1000, 'claude-opus-4-6'],
  )
})
