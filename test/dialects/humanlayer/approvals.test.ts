import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApprovalRow } from '../../../src/core/ports.ts'
import { approvalView } from '../../../src/dialects/humanlayer/approvals.ts'
import { type Json, type Rig, rigFor } from './support.ts'

async function waiting(rig: Rig, query = '[[shell ls]]', params: Json = {}) {
  const { session_id, run_id } = await rig.launch(query, params)
  await rig.reaches(session_id, 'waiting_input')
  const { data } = await rig.event('new_approval', (data) => data['session_id'] === session_id)
  return { session_id, run_id, approval_id: String(data['approval_id']) }
}

async function open(rig: Rig, params: Json = {}): Promise<Json[]> {
  return (await rig.call<{ approvals: Json[] }>('fetchApprovals', params)).approvals
}

async function approvalOf(rig: Rig, approval_id: unknown, more: Json = {}): Promise<Json> {
  return (await rig.call<{ approval: Json }>('getApproval', { approval_id, ...more })).approval
}

function ask(rig: Rig, run_id: string, more: Json = {}): Promise<{ approval_id: string }> {
  return rig.call('createApproval', { run_id, tool_name: 'Bash', tool_input: { command: 'x' }, ...more })
}

test('nothing is open, then one: with the fields of every age', async (t) => {
  const rig = await rigFor(t)
  assert.deepEqual(await rig.call('fetchApprovals', null), { approvals: [] })
  const { session_id, run_id, approval_id } = await waiting(rig)
  const [item] = await open(rig)
  const requested_at = item!['requested_at']
  assert.match(String(requested_at), /^\d{4}-.*Z$/)
  const ids = { run_id, call_id: approval_id }
  assert.deepEqual(item, {
    id: approval_id,
    ...ids,
    session_id,
    type: 'function_call',
    status: 'pending',
    tool_name: 'Shell',
    tool_input: { command: 'ls' },
    tool_use_id: item!['tool_use_id'],
    function_name: 'Shell',
    function_args: { command: 'ls' },
    requested_at,
    created_at: requested_at,
    timeout_at: null,
    function_call: { ...ids, spec: { fn: 'Shell', kwargs: { command: 'ls' } }, status: { requested_at } },
  })
  assert.deepEqual(await open(rig, { session_id }), [item])
  assert.deepEqual(await open(rig, { session_id: run_id }), [item])
  const idle = await rig.run('hello')
  assert.deepEqual(await open(rig, { session_id: idle }), [])
  await assert.rejects(open(rig, { session_id: 'nobody' }), { message: 'session not found: nobody' })
})

test('approving runs the tool; with another input, with that one', async (t) => {
  const rig = await rigFor(t)
  const first = await waiting(rig)
  const answer = { call_id: first.approval_id, type: 'function_call', decision: 'approve' }
  assert.deepEqual(await rig.call('sendDecision', answer), { success: true, error: '' })
  const state = await rig.reaches(first.session_id, 'completed')
  assert.match(String((state['result'] as Json)['result']), /ran: ls/)
  const decided = await approvalOf(rig, first.approval_id)
  assert.deepEqual([decided['status'], decided['decided_by']], ['approved', 'humanlayer'])
  assert.ok(String(decided['responded_at']) >= String(decided['requested_at']))
  const { status } = decided['function_call'] as { status: Json }
  assert.equal(status['approved'], true)

  const second = await waiting(rig)
  const edited = {
    approval_id: second.approval_id,
    decision: 'approve',
    updated_input: { command: 'ls -l' },
    comment: 'only the long one',
  }
  assert.deepEqual(await rig.call('sendDecision', edited), { success: true, error: '' })
  const after = await rig.reaches(second.session_id, 'completed')
  assert.match(String((after['result'] as Json)['result']), /ran: ls -l/)
  const kept = await approvalOf(rig, second.approval_id)
  assert.deepEqual([kept['comment'], kept['updated_input']], ['only the long one', { command: 'ls -l' }])
})

test('denying needs a reason, which the agent is told', async (t) => {
  const rig = await rigFor(t)
  const { session_id, approval_id } = await waiting(rig)
  for (const comment of [undefined, '', ' ']) {
    await assert.rejects(rig.call('sendDecision', { approval_id, decision: 'deny', comment }), {
      message: 'comment is required for denial',
      data: { code: 'invalid_params', field: 'comment' },
    })
  }
  await rig.call('sendDecision', { approval_id, decision: 'deny', comment: 'not today' })
  const state = await rig.reaches(session_id, 'completed')
  assert.equal((state['result'] as Json)['result'], 'tool said: not today')
  const decided = await approvalOf(rig, approval_id)
  assert.deepEqual([decided['status'], decided['comment']], ['denied', 'not today'])
})

test('what is wrong with a decision is said in the order and the words that clients know', async (t) => {
  const rig = await rigFor(t)
  const { approval_id } = await waiting(rig)
  const { approval_id: question } = await waiting(rig, '[[ask What colour?]]')
  const call = { call_id: approval_id }
  const cases: [Json, string][] = [
    [{}, 'call_id is required'],
    [{ type: 'function_call', decision: 'approve' }, 'call_id is required'],
    [{ ...call, type: 'function_call' }, 'decision is required'],
    [{ ...call }, 'decision is required'],
    [{ ...call, type: 'function_call', decision: 'deny' }, 'comment is required for denial'],
    [{ ...call, type: 'function_call', decision: 'respond' }, 'invalid decision for function_call: respond'],
    [{ ...call, type: 'function_call', decision: 'maybe' }, 'invalid decision for function_call: maybe'],
    [{ ...call, type: 'human_contact', decision: 'approve' }, 'invalid decision for human_contact: approve'],
    [
      { ...call, type: 'human_contact', decision: 'respond' },
      'comment is required for human contact response',
    ],
    [{ ...call, type: 'constructor', decision: 'approve' }, 'invalid type: constructor'],
    [{ approval_id, decision: 'maybe' }, 'invalid decision for function_call: maybe'],
    [{ approval_id: question, decision: 'approve' }, 'invalid decision for human_contact: approve'],
    [{ approval_id: 'nobody', decision: 'maybe' }, 'invalid decision: maybe'],
    [{ approval_id: 'nobody', decision: 'deny' }, 'comment is required for denial'],
  ]
  for (const [params, message] of cases) await assert.rejects(rig.call('sendDecision', params), { message })
  assert.equal((await open(rig)).length, 2)
})

test('what cannot be applied is an answer, not an error', async (t) => {
  const rig = await rigFor(t)
  const { approval_id, session_id } = await waiting(rig)
  const send = (params: Json): Promise<Json> => rig.call('sendDecision', params)
  assert.deepEqual(await send({ call_id: 'nobody', type: 'function_call', decision: 'approve' }), {
    success: false,
    error: 'approval not found: nobody',
  })
  const wrongType = { call_id: approval_id, type: 'human_contact', decision: 'respond', comment: 'x' }
  assert.deepEqual(await send(wrongType), {
    success: false,
    error: `approval ${approval_id} is a function_call`,
  })
  const deny = { approval_id, decision: 'deny', comment: 'no' }
  const both = await Promise.all([send(deny), send({ approval_id, decision: 'approve' })])
  assert.deepEqual(both, [
    { success: true, error: '' },
    { success: false, error: `approval ${approval_id} already decided with status: denied` },
  ])
  await rig.reaches(session_id, 'completed')
  assert.equal((await approvalOf(rig, approval_id))['status'], 'denied')
})

test('with two open and one answered the session still waits', async (t) => {
  const rig = await rigFor(t)
  const { session_id, approval_id } = await waiting(rig)
  const { approval_id: second } = await ask(rig, session_id)
  assert.deepEqual(
    (await open(rig)).map(({ id }) => id),
    [approval_id, second],
  )
  assert.equal((await rig.state(session_id))['pending_approvals'], 2)
  // What the tool says makes the agent hang, so its turn does not end before the other question.
  await rig.call('sendDecision', { approval_id, decision: 'approve', updated_input: { command: '[[hang]]' } })
  const state = await rig.state(session_id)
  assert.deepEqual([state['status'], state['pending_approvals']], ['waiting_input', 1])
  await rig.call('sendDecision', { approval_id: second, decision: 'approve' })
  assert.equal((await rig.state(session_id))['status'], 'running')
  await rig.event('approval_resolved', (data) => data['approval_id'] === second)
  await rig.until(() => rig.events.filter(({ type }) => type === 'session_status_changed').length >= 3)
  const changes = rig.events.filter(({ type }) => type === 'session_status_changed')
  assert.deepEqual(
    changes.map(({ data }) => data['new_status']),
    ['running', 'waiting_input', 'running'],
  )
})

test('approving for the session, and for the project', async (t) => {
  const rig = await rigFor(t)
  const first = await waiting(rig)
  const remember = { decision: 'approve', remember: 'session' }
  await rig.call('sendDecision', { approval_id: first.approval_id, ...remember })
  await rig.reaches(first.session_id, 'completed')
  await rig.engine.turn(first.session_id, '[[shell ls]]')
  const second = await waiting(rig)
  await rig.call('sendDecision', {
    approval_id: second.approval_id,
    decision: 'approve',
    remember: 'directory',
  })
  await rig.reaches(second.session_id, 'completed')
  await rig.run('[[shell ls]]')
  assert.equal(rig.events.filter(({ type }) => type === 'new_approval').length, 2)
})

test("an agent's own question is a human contact; it is answered in words", async (t) => {
  const rig = await rigFor(t)
  const { approval_id, session_id, run_id } = await waiting(rig, '[[ask What colour?]]')
  const [item] = await open(rig)
  assert.equal(item!['type'], 'human_contact')
  const contact = item!['human_contact'] as Json
  assert.deepEqual(contact, {
    run_id,
    call_id: approval_id,
    spec: {
      msg: 'What colour?',
      subject: 'Question',
      response_options: [
        { name: 'Yes', description: 'Agree' },
        { name: 'No', description: 'Disagree' },
      ],
    },
    status: { requested_at: item!['requested_at'] },
  })
  const respond = { call_id: approval_id, type: 'human_contact', decision: 'respond', comment: 'Blue' }
  assert.deepEqual(await rig.call('sendDecision', respond), { success: true, error: '' })
  const resolved = await rig.event('approval_resolved')
  const { decision, status, response, response_text, approved, type } = resolved.data
  assert.deepEqual(
    { decision, status, response, response_text, approved, type },
    {
      decision: 'responded',
      status: 'responded',
      response: 'Blue',
      response_text: 'Blue',
      approved: false,
      type: 'human_contact',
    },
  )
  const decided = await approvalOf(rig, approval_id)
  assert.deepEqual([decided['status'], decided['comment']], ['responded', 'Blue'])
  await rig.reaches(session_id, 'completed')
  const said = (await rig.conversation(session_id)).filter(({ role }) => role === 'user')
  assert.ok(said.some(({ content }) => content === 'Blue'))
})

test('an approval from outside: by session or run, any input, linked to its call', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('[[shell ls]]', { dangerously_skip_permissions: true })
  await rig.call('updateSessionSettings', { session_id: id, dangerously_skip_permissions: false })
  const { run_id } = await rig.state(id)
  const call = (await rig.conversation(id)).find(({ event_type }) => event_type === 'tool_call')!
  const created = [
    await ask(rig, id, { tool_use_id: call['tool_id'] }),
    await ask(rig, String(run_id), { tool_input: null }),
    await ask(rig, id, { tool_input: 'text' }),
    await ask(rig, id, { tool_input: [1], type: 'human_contact' }),
  ]
  const items = await open(rig, { session_id: id })
  assert.deepEqual(
    items.map((item) => [item['id'], item['tool_input'], item['function_args'], item['type']]),
    [
      [created[0]!.approval_id, { command: 'x' }, { command: 'x' }, 'function_call'],
      [created[1]!.approval_id, null, { input: null }, 'function_call'],
      [created[2]!.approval_id, 'text', { input: 'text' }, 'function_call'],
      [created[3]!.approval_id, [1], { input: [1] }, 'human_contact'],
    ],
  )
  assert.equal(items[0]!['tool_use_id'], call['tool_id'])
  assert.equal((await rig.state(id))['status'], 'waiting_input')

  const bad: [Json, string][] = [
    [{ run_id: '' }, 'run_id is required'],
    [{ tool_name: '' }, 'tool_name is required'],
    [{ tool_input: undefined }, 'tool_input is required'],
    [{ type: 'letter' }, 'invalid type: letter'],
    [{ run_id: 'nobody' }, 'session not found: nobody'],
  ]
  for (const [params, message] of bad) await assert.rejects(ask(rig, id, params), { message })
})

test('who asks from outside runs what it asked for: another input is refused, and the question stays', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('hello')
  const { approval_id } = await ask(rig, id)
  const send = (params: Json): Promise<Json> => rig.call('sendDecision', { approval_id, ...params })
  const refused = await send({ decision: 'approve', updated_input: { command: 'y' } })
  assert.equal(refused['success'], false)
  assert.match(String(refused['error']), /cannot run Bash with another input/)
  assert.equal((await approvalOf(rig, approval_id))['status'], 'pending')
  assert.deepEqual(await send({ decision: 'approve', updated_input: null }), { success: true, error: '' })
})

test('edits from outside pass where edits pass; everything does where everything is skipped', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('hello')
  const settings = { session_id: id, auto_accept_edits: true }
  assert.deepEqual(await rig.call('updateSessionSettings', settings), { success: true })
  for (const tool_name of ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']) {
    const { approval_id } = await ask(rig, id, { tool_name })
    assert.equal((await approvalOf(rig, approval_id))['status'], 'approved')
  }
  const { approval_id } = await ask(rig, id)
  assert.equal((await approvalOf(rig, approval_id))['status'], 'pending')
  await rig.call('updateSessionSettings', { session_id: id, dangerously_skip_permissions: true })
  assert.equal((await approvalOf(rig, approval_id))['status'], 'approved')
  const state = await rig.state(id)
  assert.deepEqual([state['auto_accept_edits'], state['dangerously_skip_permissions']], [true, true])
  await rig.call('updateSessionSettings', { session_id: id })
  assert.deepEqual(await rig.state(id), state)
})

test('waiting for a decision instead of asking again and again', async (t) => {
  const rig = await rigFor(t)
  const { session_id, approval_id } = await waiting(rig)
  const still = await approvalOf(rig, approval_id, { wait_ms: 20 })
  assert.equal(still['status'], 'pending')
  const answer = approvalOf(rig, approval_id, { wait_ms: 25_000 })
  await rig.call('sendDecision', { approval_id, decision: 'deny', comment: 'no' })
  assert.deepEqual([(await answer)['status'], (await answer)['comment']], ['denied', 'no'])
  assert.equal((await approvalOf(rig, approval_id, { wait_ms: 25_000 }))['status'], 'denied')
  await rig.reaches(session_id, 'completed')
  await assert.rejects(approvalOf(rig, 'nobody'), {
    message: 'approval not found: nobody',
    data: { code: 'approval_not_found' },
  })
  await assert.rejects(approvalOf(rig, undefined), { message: 'approval_id is required' })
})

test('what nobody answers in time is refused', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('hello')
  const { approval_id: patient } = await ask(rig, id)
  assert.equal((await open(rig))[0]!['timeout_at'], null, 'it waits for ever')
  await rig.call('sendDecision', { approval_id: patient, decision: 'approve' })
  const { approval_id } = await ask(rig, id, { timeout_ms: 60_000 })
  const [item] = await open(rig)
  const wait = Date.parse(String(item!['timeout_at'])) - Date.parse(String(item!['requested_at']))
  // The clock is looked at twice.
  assert.ok(Math.abs(wait - 60_000) < 1000, String(wait))
  await rig.call('sendDecision', { approval_id, decision: 'approve' })

  const { session_id } = await rig.launch('[[shell ls]]', { approval_timeout_ms: 30 })
  const state = await rig.reaches(session_id, 'completed')
  assert.match(String((state['result'] as Json)['result']), /Nobody answered in time/)
  const resolved = await rig.event('approval_resolved', (data) => data['session_id'] === session_id)
  assert.deepEqual([resolved.data['decision'], resolved.data['decided_by']], ['denied', 'timeout'])
})

test('all approvals of all sessions in one list, decided ones too', async (t) => {
  const rig = await rigFor(t)
  const first = await waiting(rig)
  const second = await waiting(rig)
  const list = async (params: Json = {}): Promise<unknown[]> =>
    (await rig.call<{ approvals: Json[] }>('listApprovals', params)).approvals.map(({ id }) => id)
  assert.deepEqual(await list(), [second.approval_id, first.approval_id])
  await rig.call('sendDecision', { approval_id: second.approval_id, decision: 'approve' })
  assert.deepEqual(await list(), [first.approval_id])
  assert.deepEqual(await list({ open: false }), [second.approval_id, first.approval_id])
  assert.deepEqual(await list({ open: false, limit: 1 }), [second.approval_id])
  assert.deepEqual(await list({ open: false, session_id: first.session_id }), [first.approval_id])
})

test('messages to a human come in several shapes', () => {
  const row = { id: 'a', sessionId: 's0', kind: 'question', tool: 'contact_human', callId: null } as const
  const rest = { requestedAt: 0, decision: null, decidedBy: null, decidedAt: null, timeoutAt: null }
  const spec = (input: unknown, summary: string | null = null): unknown => {
    const view = approvalView({ ...row, ...rest, input, summary } as unknown as ApprovalRow)
    return (view['human_contact'] as Json)['spec']
  }
  assert.deepEqual(spec({ message: 'hi', subject: 'S', options: ['a', { name: 'b' }, 7] }), {
    msg: 'hi',
    subject: 'S',
    response_options: [{ name: 'a' }, { name: 'b' }],
  })
  const questions = [{ question: 'One?', header: 'H', options: [{ label: 'x' }] }, { question: 'Two?' }]
  assert.deepEqual(spec({ questions }), { msg: 'One?\nTwo?' })
  assert.deepEqual(spec({ odd: 1 }, 'in short'), { msg: 'in short' })
  assert.deepEqual(spec({ odd: 1 }), { msg: '{"odd":1}' })
  assert.deepEqual(spec(null), { msg: 'null' })
})
