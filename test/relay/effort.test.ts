import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAnthropic } from '../../src/dialects/anthropic/request.ts'
import { readOpenAi } from '../../src/dialects/openai/request.ts'
import { effortFor, type SessionSetup } from '../../src/relay/sessions/launch.ts'
import { anAsk } from './servers.ts'

const body = (more: object): object => {
  return { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], ...more }
}

test('how long to think is read in the words of either API', () => {
  for (const [given, effort] of [
    [{}, undefined],
    [{ output_config: { effort: 'max' } }, 'max'],
    [{ thinking: { type: 'disabled' } }, 'off'],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, 'off'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, 'low'],
  ] as const) {
    assert.equal(readAnthropic(body(given)).effort, effort, JSON.stringify(given))
  }
  for (const [given, effort] of [
    [{ reasoning_effort: null }, undefined],
    [{ reasoning_effort: 'minimal' }, 'minimal'],
    [{ reasoning_effort: 'none' }, 'off'],
    [{ reasoning: { effort: 'xhigh' } }, 'xhigh'],
    [{ reasoning: { effort: 'high' }, reasoning_effort: 'low' }, 'low'],
  ] as const) {
    assert.equal(readOpenAi(body(given)).effort, effort, JSON.stringify(given))
  }
  assert.throws(() => readAnthropic(body({ output_config: { effort: 'much' } })), {
    field: 'output_config.effort',
  })
  assert.throws(() => readOpenAi(body({ reasoning_effort: 'much' })), { field: 'reasoning_effort' })
})

test('an agent that cannot be told is not', () => {
  const ask = anAsk({ effort: 'high' })
  assert.equal(effortFor(ask, { takesEffort: true } as SessionSetup), 'high')
  assert.equal(effortFor(ask, { takesEffort: false } as SessionSetup), null)
})
