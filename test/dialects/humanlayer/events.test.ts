import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIdOf } from '../../../src/dialects/humanlayer/ids.ts'
import { statusChange } from '../../../src/dialects/humanlayer/status.ts'
import { type Json, type Rig, rigFor } from './support.ts'

function changes(rig: Rig, sessionId: string): string[] {
  return rig.events
    .filter(({ type, data }) => type === 'session_status_changed' && data['session_id'] === sessionId)
    .map(({ data }) => `${data['old_status']} ${data['new_status']}`)
}

/** Everything that has been committed has arrived: a marker comes after it. */
async function settled(rig: Rig): Promise<void> {
  const { engine, cwd } = rig.engine
  const { id } = await engine.sessions.create({ agent: 'demo', cwd })
  await engine.sessions.configure({ sessionId: id, title: 'marker' })
  await rig.event('session_settings_changed', ({ session_id }) => session_id === id)
}

test('every change of status is told exactly once, with both ids', async (t) => {
  const rig = await rigFor(t)
  const done = await rig.run('hello')
  const failed = await rig.launch('[[fail 500]]')
  await rig.reaches(failed.session_id, 'failed')
  const asked = await rig.launch('[[shell ls]]')
  const { data } = await rig.event('new_approval')
  await rig.call('sendDecision', { approval_id: data['approval_id'], decision: 'approve' })
  await rig.reaches(asked.session_id, 'completed')
  const stopped = await rig.launch('[[hang]]')
  await rig.engine.event('turn.accepted', { sessionId: stopped.session_id })
  await rig.call('interruptSession', { session_id: stopped.session_id })
  await rig.reaches(stopped.session_id, 'completed')
  await settled(rig)

  assert.deepEqual(changes(rig, done), ['starting running', 'running completed'])
  assert.deepEqual(changes(rig, failed.session_id), ['starting running', 'running failed'])
  assert.deepEqual(changes(rig, asked.session_id), [
    'starting running',
    'running waiting_input',
    'waiting_input running',
    'running completed',
  ])
  assert.deepEqual(changes(rig, stopped.session_id), ['starting running', 'running completed'])
  for (const { data, seq, timestamp } of rig.events) {
    assert.equal(data['run_id'], runIdOf(String(data['session_id'])))
    assert.ok(Number.isInteger(seq))
    assert.match(timestamp, /^\d{4}-.*Z$/)
  }
  const seqs = rig.events.map(({ seq }) => seq)
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  )
})

test('a second turn, a pause and an end by force look right to those who know five words', async (t) => {
  const rig = await rigFor(t)
  const { engine } = rig.engine
  const id = await rig.run('hello')
  await rig.engine.turn(id, 'again')
  await settled(rig)
  const twice = ['starting running', 'running completed', 'completed running', 'running completed']
  assert.deepEqual(changes(rig, id), twice)

  // Nothing runs: a pause is nothing to them, and what starts when it ends is.
  await engine.sessions.pause(id)
  assert.equal((await rig.state(id))['status'], 'completed')
  const sent = await engine.turns.send({ sessionId: id, input: [{ type: 'text', text: '[[hang]]' }] })
  await engine.sessions.resume(id)
  await rig.engine.event('turn.accepted', { sessionId: id, after: sent.seq })
  // Something runs: it goes on running, as far as they can see.
  await engine.sessions.pause(id)
  assert.equal((await rig.state(id))['status'], 'running')
  await engine.sessions.resume(id)
  await settled(rig)
  assert.deepEqual(changes(rig, id), [...twice, 'completed running'])
  await engine.sessions.destroy(id)
  await settled(rig)
  assert.deepEqual(changes(rig, id), [...twice, 'completed running', 'running completed'])
})

test('a pause with a question open', async (t) => {
  const rig = await rigFor(t)
  const { engine } = rig.engine
  const { session_id: id } = await rig.launch('[[shell ls]]')
  await rig.reaches(id, 'waiting_input')
  const asked = ['starting running', 'running waiting_input']
  // It waits for its answer, as before and after.
  await engine.sessions.pause(id)
  assert.equal((await rig.state(id))['status'], 'waiting_input')
  await engine.sessions.resume(id)
  await settled(rig)
  assert.deepEqual(changes(rig, id), asked)

  // What is answered during a pause is told when that is over.
  await engine.sessions.pause(id)
  const { data } = await rig.event('new_approval')
  const answer = { decision: 'approve', updated_input: { command: '[[hang]]' } }
  await rig.call('sendDecision', { approval_id: data['approval_id'], ...answer })
  assert.equal((await rig.state(id))['status'], 'running')
  await settled(rig)
  assert.deepEqual(changes(rig, id), asked)
  await engine.sessions.resume(id)
  await settled(rig)
  assert.deepEqual(changes(rig, id), [...asked, 'waiting_input running'])
})

test('a question that comes during a pause is told when that is over', async (t) => {
  const rig = await rigFor(t)
  const { engine } = rig.engine
  const id = await rig.run('hello')
  await engine.sessions.pause(id)
  await engine.approvals.ask({ sessionId: id, kind: 'tool', tool: 'Bash', input: {} })
  assert.equal((await rig.state(id))['status'], 'waiting_input')
  await engine.sessions.resume(id)
  await settled(rig)
  assert.deepEqual(changes(rig, id), ['starting running', 'running completed', 'completed waiting_input'])
})

test('a turn that ends during a pause has run until the pause is over', () => {
  const base = { type: 'session.status', seq: 9, at: 0, sessionId: 's' } as const
  const resumed = { ...base, status: 'idle', previous: 'paused', outcome: 'completed', turnId: null } as const
  const paused = { ...base, status: 'paused', previous: 'running', outcome: null } as const
  const inTurn = statusChange(resumed, () => ({ ...paused, turnId: 't1' }))
  assert.deepEqual(inTurn, { before: 'running', after: 'completed' })
  const idle = statusChange(resumed, () => ({ ...paused, turnId: null }))
  assert.deepEqual(idle, { before: 'completed', after: 'completed' })
  assert.deepEqual(
    statusChange(resumed, () => null),
    idle,
  )
})

test('new_approval and approval_resolved name everything that clients look for', async (t) => {
  const rig = await rigFor(t)
  const { session_id, run_id } = await rig.launch('[[shell ls]]')
  const { data } = await rig.event('new_approval')
  const { approval_id, tool_use_id } = data
  const ids = { session_id, run_id, approval_id, call_id: approval_id }
  const about = { type: 'function_call', tool_name: 'Shell', tool_use_id }
  assert.deepEqual(data, { ...ids, ...about, count: 1, total: 1 })
  await rig.call('sendDecision', { approval_id, decision: 'deny', comment: 'no' })
  const resolved = await rig.event('approval_resolved')
  assert.deepEqual(resolved.data, {
    ...ids,
    ...about,
    approved: false,
    decision: 'denied',
    status: 'denied',
    response_text: 'no',
    comment: 'no',
    decided_by: 'humanlayer',
  })
})

test('what mode and rules answer by themselves is not announced', async (t) => {
  const rig = await rigFor(t)
  const { engine, cwd } = rig.engine
  const auto = await engine.sessions.create({ agent: 'demo', cwd, mode: 'auto' })
  await rig.engine.turn(auto.id, '[[shell ls]]')
  await settled(rig)
  assert.ok(!rig.events.some(({ type }) => type === 'new_approval' || type === 'approval_resolved'))

  // But what was announced and is then answered by a rule is.
  const { session_id } = await rig.launch('[[shell ls]]')
  await rig.event('new_approval')
  await rig.call('updateSessionSettings', { session_id, dangerously_skip_permissions: true })
  const { data } = await rig.event('approval_resolved')
  assert.deepEqual([data['decision'], data['decided_by']], ['approved', 'rule'])
})

test('conversation_updated tells each thing once, as it is in the conversation', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('[[think hm]] [[shell ls]]', { dangerously_skip_permissions: true })
  const told = rig.events.filter(({ type }) => type === 'conversation_updated')
  const rows = await rig.conversation(id)
  assert.deepEqual(
    told.map(({ seq, data }) => [seq, data['event_type']]),
    rows.map((row) => [row['id'], row['event_type']]),
  )
  const { claude_session_id, run_id } = await rig.state(id)
  const ids = { session_id: id, run_id, claude_session_id }
  const tool_id = rows[2]!['tool_id']
  assert.deepEqual(told.slice(1).map(({ data }) => data) as Json[], [
    { ...ids, event_type: 'thinking', content_type: 'thinking', role: 'assistant', content: 'hm' },
    {
      ...ids,
      event_type: 'tool_call',
      content_type: 'tool_use',
      tool_id,
      tool_name: 'Shell',
      tool_input: { command: 'ls' },
    },
    {
      ...ids,
      event_type: 'tool_result',
      content_type: 'tool_result',
      role: 'user',
      tool_result_for_id: tool_id,
      tool_result_content: '(pretend) ran: ls',
    },
    {
      ...ids,
      event_type: 'message',
      content_type: 'text',
      role: 'assistant',
      content: 'tool said: (pretend) ran: ls',
    },
  ])
})

test('settings that change are told, and so is the end of skipping', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('hello')
  const of = (fits: (data: Json) => boolean): Promise<{ data: Json }> =>
    rig.event('session_settings_changed', (data) => data['session_id'] === id && fits(data))
  await rig.call('archiveSession', { session_id: id, archived: true })
  const archived = await of((data) => data['archived'] === true)
  assert.deepEqual(archived.data, {
    session_id: id,
    run_id: runIdOf(id),
    event_type: 'settings_updated',
    archived: true,
  })
  await rig.call('updateSessionSettings', {
    session_id: id,
    dangerously_skip_permissions: true,
    dangerously_skip_permissions_timeout_ms: 200,
  })
  const on = await of((data) => data['dangerously_skip_permissions'] === true)
  assert.ok(on.data['dangerously_skip_permissions_expires_at'])
  const off = await of((data) => data['reason'] === 'expired')
  assert.equal(off.data['dangerously_skip_permissions'], false)
  assert.ok(off.data['expired_at'])
  assert.equal((await rig.state(id))['dangerously_skip_permissions'], false)
  await rig.engine.engine.sessions.configure({ sessionId: id, mode: 'code', model: 'm' })
  const both = await of((data) => data['mode'] === 'code')
  assert.equal(both.data['model'], 'm')
})

test('what was said before can be read again from any point, the same', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[shell ls]]', { verbose: true })
  const { data } = await rig.event('new_approval')
  await rig.call('sendDecision', { approval_id: data['approval_id'], decision: 'deny', comment: 'no' })
  await rig.reaches(session_id, 'completed')
  await settled(rig)
  await rig.event('conversation_updated', ({ subtype }) => subtype === 'init')
  const late = await rig.connect()
  await late.subscribe({ since: 0 })
  await late.until(() => late.events.length >= rig.events.length)
  const stable = ({ type, seq, data }: { type: string; seq: number; data: Json }): unknown => {
    const { claude_session_id: _, total: __, ...rest } = data
    return { type, seq, rest }
  }
  assert.deepEqual(late.events.map(stable), rig.events.map(stable))
})
