import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { acpTranslator } from '../../src/agents/acp/translator.ts'
import { demoTranslator } from '../../src/agents/demo/translator.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { isNews } from '../../src/core/fullness.ts'
import { aSession } from '../support/session.ts'
import { only, translate as claude } from './claude-recordings.ts'
import { translate as codex } from './codex-recordings.ts'
import { ACCEPTED, note, OPENED, STARTED } from './codex-said.ts'

const told = (outputs: DriverOutput[]) =>
  only(outputs, 'agent.context').map(({ used, window }) => [used, window])

const answered = (tokens: number, more: object = {}) => ({
  type: 'assistant',
  message: {
    id: 'm',
    model: 'large',
    content: [{ type: 'text', text: 'hi' }],
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: tokens,
      cache_creation_input_tokens: 5,
      output_tokens: 1,
    },
  },
  ...more,
})

test('Claude tells how full its conversation is with each answer, and of how much at the end of a turn', () => {
  const modelUsage = {
    small: { contextWindow: 200_000 },
    'large[1m]': { contextWindow: 1_000_000, canonicalModel: 'large' },
  }
  const end = { type: 'result', is_error: false, result: 'hi', modelUsage }
  assert.deepEqual(told(claude([answered(30_000), end, answered(45_000)])), [
    [30_016, null],
    [30_016, 1_000_000],
    [45_016, 1_000_000],
  ])
})

test("what Claude's sub-agents take is not the conversation's", () => {
  const theirs = answered(90_000, { parent_tool_use_id: 'call', agent_id: 'a' })
  assert.deepEqual(told(claude([answered(30_000), theirs])), [[30_016, null]])
})

test('a conversation of Claude that was summed up takes what is left', () => {
  const boundary = {
    type: 'system',
    subtype: 'compact_boundary',
    compact_metadata: { trigger: 'manual', pre_tokens: 150_000, post_tokens: 8000 },
  }
  const end = {
    type: 'result',
    is_error: false,
    result: '',
    modelUsage: { large: { contextWindow: 200_000 } },
  }
  assert.deepEqual(told(claude([answered(150_000), boundary, end])), [
    [150_016, null],
    [8000, 200_000],
  ])
})

test('Codex tells it with every call of the model', () => {
  const used = (last: number) =>
    note('thread/tokenUsage/updated', {
      turnId: 'C1',
      tokenUsage: { total: { totalTokens: last }, last: { totalTokens: last }, modelContextWindow: 258_400 },
    })
  assert.deepEqual(told(codex([OPENED, ACCEPTED, STARTED, used(12_000), used(100)])), [[12_000, 258_400]])
})

test('an agent of the Agent Client Protocol tells it as it likes', () => {
  const { initial, step } = acpTranslator(gemini)
  const update = { sessionUpdate: 'usage_update', used: 5300, size: 100_000 }
  const line = { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } }
  assert.deepEqual(told(step(initial(aSession()), line).outputs), [[5300, 100_000]])
})

test('the demo agent has a small window', () => {
  const line = { type: 'context', used: 2000, window: 100_000 }
  assert.deepEqual(told(demoTranslator.step(demoTranslator.initial(), line).outputs), [[2000, 100_000]])
})

test('what changes no percent is no news, nor is what nobody has said', () => {
  const last = { used: 50_400, window: 100_000 }
  assert.equal(isNews(last, { used: 50_900, window: 100_000 }), false)
  assert.equal(isNews(last, { used: 51_000, window: 100_000 }), true)
  assert.equal(isNews(last, { used: 40_000, window: 100_000 }), true)
  assert.equal(isNews(last, { used: 50_400, window: 200_000 }), true, 'another window')
  assert.equal(isNews(undefined, { used: 900, window: 100_000 }), false)
  assert.equal(isNews(undefined, { used: 1000, window: null }), true)
  assert.equal(isNews(last, { used: null, window: null }), false)
})
