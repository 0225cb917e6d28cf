import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, translate } from './acp-recordings.ts'

test('a model that was set is in use, unless a turn runs that began with another', () => {
  const opening = [
    { id: 'initialize', result: { protocolVersion: 1 } },
    { id: 'open:new', result: { sessionId: 's' } },
  ]
  const used = (...lines: unknown[]) =>
    only(translate('opencode', [...opening, ...lines]).flat(), 'agent.model').map(({ model }) => model)
  const options = [{ id: 'model', category: 'model', currentValue: 'house/big', options: [] }]
  assert.deepEqual(used({ id: 'model:old:small', result: {} }), ['small'])
  assert.deepEqual(used({ id: 'model:option:big', result: { configOptions: options } }), ['house/big'])
  assert.deepEqual(used({ id: 'begin:t' }, { id: 'model:option:small', result: {} }), [])
  assert.deepEqual(used({ id: 'model:option:small', error: { code: -32602, message: 'unknown' } }), [])
})

test('the first words of a turn prove that its message was read, before the mark behind it', () => {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hello' } }
  const speaks = { method: 'session/update', params: { update } }
  const asks = { id: 1, method: 'session/request_permission', params: {} }
  const accepted = (...lines: unknown[]) =>
    only(translate('gemini', lines).flat(), 'turn.accepted').map(({ turnId }) => turnId)
  for (const line of [speaks, asks]) {
    assert.deepEqual(accepted({ id: 'begin:a' }, line), ['a'])
    assert.deepEqual(accepted({ id: 'begin:a' }, line, line, { id: 'accepted:a' }), ['a'])
  }
  const mode = { sessionUpdate: 'current_mode_update', currentModeId: 'plan' }
  assert.deepEqual(accepted({ id: 'begin:a' }, { method: 'session/update', params: { update: mode } }), [])
  assert.deepEqual(accepted({ id: 'begin:a' }, { id: 'prompt:a', result: {} }, speaks), ['a'])
})
