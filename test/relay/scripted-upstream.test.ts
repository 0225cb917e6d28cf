import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Ask, Piece } from '../../src/relay/ask.ts'
import { anthropicUpstream } from '../../src/relay/providers/anthropic.ts'
import { openaiUpstream } from '../../src/relay/providers/openai.ts'
import { startScriptedModel } from '../support/model/server.ts'
import { aCall, all, anAsk } from './servers.ts'

const model = await startScriptedModel()
after(() => model.close())

const PROVIDERS = [
  anthropicUpstream({ name: 'anthropic', kind: 'anthropic', baseUrl: model.url }),
  openaiUpstream({ name: 'openai', kind: 'openai', baseUrl: model.url }),
]
after(() => PROVIDERS.forEach((provider) => provider.close()))

/** The same words in either shape. */
function says(text: string, shape: Ask['body']['shape']): Ask {
  const tools = [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }]
  const messages = [{ role: 'user', content: text }]
  const json =
    shape === 'anthropic'
      ? {
          model: 'm',
          max_tokens: 100,
          messages,
          tools: [{ name: 'look', input_schema: { type: 'object' } }],
        }
      : { model: 'm', messages, tools: [{ type: 'function', function: { name: 'look' } }] }
  return anAsk({
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    tools,
    body: { shape, json },
  })
}

const textOf = (pieces: Piece[]): string =>
  pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join('')

for (const provider of PROVIDERS) {
  for (const shape of ['anthropic', 'openai'] as const) {
    describe(`${shape} asked, ${provider.name} answers`, () => {
      const ask = (text: string): Promise<Piece[]> => all(provider.answer(aCall(says(text, shape))))

      test('text, in pieces, with its usage', async () => {
        const pieces = await ask('[[words 300]]')
        assert.equal(textOf(pieces).split(' ').length, 300)
        const end = pieces.at(-1)
        assert.equal(end?.type === 'end' && end.stopReason, 'end_turn')
        assert.ok(end?.type === 'end' && end.usage!.inputTokens > 0 && end.usage!.outputTokens > 0)
      })

      test('a tool', async () => {
        const input = { at: 'Ünïcode "quoted"', n: [1, 2] }
        const encoded = Buffer.from(JSON.stringify(input)).toString('base64')
        const pieces = await ask(`[[call look ${encoded}]]`)
        const call = pieces.find(({ type }) => type === 'tool_use')
        assert.ok(call?.type === 'tool_use' && call.id !== '')
        assert.deepEqual([call.name, call.input], ['look', input])
        const end = pieces.at(-1)
        assert.equal(end?.type === 'end' && end.stopReason, 'tool_use')
      })

      test('failures before and in the answer', async () => {
        await assert.rejects(ask('[[fail 429]]'), { name: 'RelayFailure', status: 429 })
        await assert.rejects(ask('[[fail 529]]'), { name: 'RelayFailure', status: 529 })
        await assert.rejects(ask('[[say so far]] [[fail 500]]'), { name: 'RelayFailure', status: 500 })
      })
    })
  }
}
