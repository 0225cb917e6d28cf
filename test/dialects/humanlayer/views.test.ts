import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIdOf } from '../../../src/dialects/humanlayer/ids.ts'
import { cutTo, summaryOf } from '../../../src/dialects/humanlayer/text.ts'
import { type Json, rigFor } from './support.ts'

test('a summary is a line of fifty characters', () => {
  const fifty = 'x'.repeat(50)
  assert.equal(summaryOf(fifty), fifty)
  assert.equal(summaryOf(`${fifty}y`), `${'x'.repeat(47)}...`)
  assert.equal(summaryOf(' a\t\tb\r\n c  '), 'a b c')
  assert.equal(summaryOf(' \n\t'), '')
  assert.equal(summaryOf('漢'.repeat(51)), `${'漢'.repeat(47)}...`)
  assert.equal(summaryOf('😀'.repeat(50)), '😀'.repeat(50))
  assert.equal(summaryOf('😀'.repeat(51)), `${'😀'.repeat(47)}...`)
  assert.equal(summaryOf(`${'x'.repeat(50)}${' '.repeat(10_000)}`), fifty)
})

test('half a character is never left over', () => {
  assert.equal(cutTo('ab', 2), 'ab')
  assert.equal(cutTo('abc', 2), 'ab')
  assert.equal(cutTo('a😀', 2), 'a')
})

test('a run id is made of the session id and leads back to it', () => {
  for (const id of ['01a1e183-3f36-747a-bcff-80bb4ffe99a5', '0', 'f', 'no hex: z', '']) {
    assert.equal(runIdOf(runIdOf(id)), id)
  }
  assert.notEqual(runIdOf('a'), 'a')
})

test('a running session: nothing that comes later is there yet', async (t) => {
  const rig = await rigFor(t)
  const { session_id, run_id } = await rig.launch('[[hang]]  with\nlines')
  await rig.engine.event('turn.accepted', { sessionId: session_id })
  const state = await rig.state(session_id)
  assert.deepEqual(
    {
      id: state['id'],
      run_id: state['run_id'],
      status: state['status'],
      parent_session_id: state['parent_session_id'],
      completed_at: state['completed_at'],
      error_message: state['error_message'],
      summary: state['summary'],
      query: state['query'],
      working_dir: state['working_dir'],
      cost_usd: state['cost_usd'],
      total_tokens: state['total_tokens'],
    },
    {
      id: session_id,
      run_id,
      status: 'running',
      parent_session_id: null,
      completed_at: null,
      error_message: '',
      summary: '[[hang]] with lines',
      query: '[[hang]]  with\nlines',
      working_dir: rig.engine.cwd,
      cost_usd: 0,
      total_tokens: 0,
    },
  )
  for (const absent of ['end_time', 'error', 'result', 'outcome']) assert.ok(!(absent in state), absent)
})

test('a session that is over: figures, result and times', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('[[say four words are here]]', { model: 'm1' })
  const state = await rig.state(id)
  assert.deepEqual(
    [state['model'], state['model_id'], state['turn_count'], state['pending_approvals']],
    ['m1', 'm1', 1, 0],
  )
  const input = Number(state['input_tokens'])
  const output = Number(state['output_tokens'])
  assert.ok(input > 0 && output > 0)
  assert.equal(state['total_tokens'], input + output)
  assert.equal(state['effective_context_tokens'], input + output)
  assert.equal(state['created_at'], state['start_time'])
  assert.equal(state['completed_at'], state['end_time'])
  assert.ok(String(state['completed_at']) >= String(state['created_at']))
  assert.deepEqual(state['result'], {
    type: 'result',
    subtype: 'session_completed',
    total_cost_usd: 0,
    is_error: false,
    duration_ms: (state['result'] as Json)['duration_ms'],
    duration_api_ms: 0,
    num_turns: 1,
    result: 'four words are here',
    session_id: state['claude_session_id'],
  })

  await rig.engine.turn(id, '[[say more]]')
  const after = await rig.state(id)
  assert.ok(Number(after['output_tokens']) > output)
  assert.equal(after['turn_count'], 2)
  assert.equal((after['result'] as Json)['result'], 'more')
  assert.equal(after['query'], '[[say four words are here]]')

  for (const word of ['a', 'b', 'c']) await rig.engine.turn(id, `[[say ${word}]]`)
  const long = await rig.state(id)
  assert.deepEqual([long['query'], long['turn_count']], ['[[say four words are here]]', 5])
})

test('the model is the one that the agent names, if nobody asked for another', async (t) => {
  const rig = await rigFor(t)
  const state = await rig.state(await rig.run('hello'))
  assert.deepEqual([state['model'], state['model_id']], ['demo-script', 'demo-script'])
})

test('lists say the same, with long queries and results cut', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run(`[[say ${'y'.repeat(12_000)}]] ${'x'.repeat(20_000)}`)
  const { query: whole, result: all, ...state } = await rig.state(id)
  assert.equal(String(whole).length, 32_009)
  assert.equal((all as Json)['result'], 'y'.repeat(12_000))
  assert.equal(state['context_limit'], 168_000)
  for (const method of ['listSessions', 'getSessionLeaves']) {
    const { sessions } = await rig.call<{ sessions: Json[] }>(method)
    const { query, result, ...listed } = sessions[0]!
    assert.deepEqual(listed, state)
    assert.equal(String(query).length, 10_000)
    assert.deepEqual(result, { ...(all as Json), result: 'y'.repeat(10_000) })
  }
})
