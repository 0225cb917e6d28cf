import assert from 'node:assert/strict'
import { test } from 'node:test'
import { opencode } from '../../src/agents/acp/opencode.ts'
import { acpTranslator } from '../../src/agents/acp/translator.ts'
import type { Translator } from '../../src/agents/agent.ts'
import { claudeTranslator } from '../../src/agents/claude/translator.ts'
import { codexTranslator } from '../../src/agents/codex/translator.ts'
import { demoTranslator } from '../../src/agents/demo/translator.ts'
import type { AgentModel } from '../../src/core/event.ts'
import { aSession } from '../support/session.ts'

/** What these lines tell about models. */
function told<S>(translator: Translator<S>, ...lines: unknown[]): AgentModel[][] {
  let state = translator.initial(aSession())
  return lines.flatMap((line) => {
    const step = translator.step(state, line)
    state = step.state
    return step.outputs.flatMap((it) => (it.type === 'models.told' ? [it.models] : []))
  })
}

const answer = (request_id: string, response: object) => {
  return { type: 'control_response', response: { subtype: 'success', request_id, response } }
}

test('Claude tells its models when it is asked for them, and when it is greeted', () => {
  const models = [
    { value: 'default', displayName: 'Default', supportedEffortLevels: ['low'] },
    {
      value: 'opus',
      displayName: 'Opus',
      description: 'Best for all',
      supportsEffort: true,
      supportedEffortLevels: ['low', 'medium', 'high', 'xhigh', 'max', 'new'],
    },
    { value: 'old', displayName: 'Old', supportsEffort: false },
    { value: 'bare' },
    { displayName: 'nameless' },
    7,
  ]
  const expected = [
    {
      id: 'opus',
      name: 'Opus',
      description: 'Best for all',
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
    },
    { id: 'old', name: 'Old', efforts: [] },
    { id: 'bare', name: 'bare' },
  ]
  for (const id of ['models:1', 'initialize:1']) {
    assert.deepEqual(told(claudeTranslator, answer(id, { models, commands: [] })), [expected])
  }
  assert.deepEqual(told(claudeTranslator, answer('models:1', {}), answer('mode:1', { models })), [])
})

test('Codex tells its models, with the efforts of each', () => {
  const efforts = ['none', 'low', 'xhigh', 'ultra'].map((reasoningEffort) => ({ reasoningEffort }))
  const data = [
    {
      id: 'preset',
      model: 'gpt',
      displayName: 'GPT',
      description: 'A model',
      supportedReasoningEfforts: efforts,
      defaultReasoningEffort: 'low',
    },
    { model: 'dull', supportedReasoningEfforts: [], defaultReasoningEffort: 'ultra' },
    {},
    null,
  ]
  assert.deepEqual(told(codexTranslator, { id: 's1:models', result: { data } }), [
    [
      {
        id: 'gpt',
        name: 'GPT',
        description: 'A model',
        efforts: ['off', 'low', 'xhigh'],
        defaultEffort: 'low',
      },
      { id: 'dull', name: 'dull', efforts: [] },
    ],
  ])
  const useless = [
    { id: 's1:models', error: { message: 'no' } },
    { id: 's2:models', result: { data } },
  ]
  assert.deepEqual(told(codexTranslator, ...useless), [])
})

test('an agent of the common protocol tells them as options, and the efforts of the one that it uses', () => {
  const options = (...values: string[]) => values.map((value) => ({ value, name: value.toUpperCase() }))
  const configOptions = [
    { id: 'm', category: 'model', currentValue: 'a/b', options: options('a/b', 'c/d') },
    { id: 'e', category: 'thought_level', currentValue: 'low', options: options('default', 'low', 'high') },
  ]
  const opening = [
    { id: 'initialize', result: { protocolVersion: 1 } },
    { id: 'open:new', result: { sessionId: 's', configOptions } },
  ]
  assert.deepEqual(told(acpTranslator(opencode), ...opening), [
    [
      { id: 'a/b', name: 'A/B', efforts: ['low', 'high'], defaultEffort: 'low' },
      { id: 'c/d', name: 'C/D' },
    ],
  ])
})

test('another model of such an agent is told the effort anew, with what it offers', () => {
  const translator = acpTranslator(opencode)
  const option = (currentValue: string) => [
    { id: 'effort', category: 'thought_level', currentValue, options: [{ value: 'max' }] },
  ]
  let state = translator.initial(aSession())
  const wishes = (line: unknown) => {
    const step = translator.step(state, line)
    state = step.state
    return step.outputs.flatMap((it) => (it.type === 'agent.request' ? [it.request] : []))
  }
  wishes({ id: 'initialize', result: { protocolVersion: 1 } })
  wishes({ id: 'open:new', result: { sessionId: 's' } })
  const effort = { id: 'effort', words: ['max'], now: 'max' }
  const [opened] = wishes({ id: 'model:option:m', result: { configOptions: option('max') } })
  assert.deepEqual((opened as { choices: { effort: object } }).choices.effort, effort)
  wishes({ id: 'ready' })
  const live = wishes({ id: 'model:option:n', result: { configOptions: option('max') } })
  assert.deepEqual(live, [{ step: 'effort', option: effort }])
  assert.deepEqual(wishes({ id: 'effort:max', error: { message: 'no' } }), [])
})

test('the demo agent tells what it is told to tell', () => {
  assert.deepEqual(told(demoTranslator, { type: 'models', models: [] }, { type: 'models' }), [[], []])
})
