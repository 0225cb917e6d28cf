import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyConversation } from '../../../src/core/conversation/conversation.ts'
import type { Approval } from '../../../src/core/approval.ts'
import type { Event, EventBody } from '../../../src/core/event.ts'
import { createConversationView } from '../../../src/dialects/humanlayer/conversation.ts'
import type { ConversationEvent } from '../../../src/dialects/humanlayer/shapes.ts'
import { aSession } from '../../support/session.ts'
import { type Json, rigFor } from './support.ts'

/** The conversation that these events tell, of a session with these settings. */
function told(bodies: EventBody[], verbose = false): ConversationEvent[] {
  const session = aSession({ nativeId: 'n1', settings: verbose ? { verbose } : {} })
  const view = createConversationView(session, emptyConversation())
  bodies.forEach((body, index) => {
    view.add({ turnId: 't1', ...body, seq: 10 + index, at: 0, sessionId: 's1' } as Event)
  })
  return view.rows()
}

function approval(patch: Partial<Approval> = {}): Approval {
  const fixed = { requestId: 'r', kind: 'tool', input: {}, edits: false, summary: null } as const
  return { id: 'a1', tool: 'Bash', callId: null, suggestions: null, parent: null, ...fixed, ...patch }
}

function asked(patch: Partial<Approval> = {}): EventBody {
  const how = { open: true, external: false, timeoutAt: null }
  return { type: 'approval.requested', turnId: 't1', approval: approval(patch), ...how }
}

function call(callId: string, tool = 'Bash'): EventBody {
  return { type: 'tool.started', callId, tool, input: { command: callId }, parent: null }
}

function result(callId: string): EventBody {
  return { type: 'tool.completed', callId, output: 'ok', isError: false, parent: null, cut: 0 }
}

function links(rows: ConversationEvent[]) {
  return rows
    .filter(({ event_type }) => event_type === 'tool_call')
    .map(({ tool_id, approval_id, approval_status }) => [tool_id, approval_id, approval_status])
}

test('a conversation in order: words, thoughts, calls, results', async (t) => {
  const rig = await rigFor(t)
  const input = { b: [1, { deep: '<&>' }], a: null, text: 'ü\u2028' }
  const query = `[[think hm]] [[call Tool ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`
  const id = await rig.run(query, { dangerously_skip_permissions: true })
  const events = await rig.conversation(id)
  const kinds = events.map(({ event_type, role }) => [event_type, role])
  assert.deepEqual(kinds, [
    ['message', 'user'],
    ['thinking', 'assistant'],
    ['tool_call', undefined],
    ['tool_result', 'user'],
    ['message', 'assistant'],
  ])
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5],
  )
  const state = await rig.state(id)
  for (const event of events) {
    assert.equal(event['session_id'], id)
    assert.equal(event['claude_session_id'], state['claude_session_id'])
    assert.equal(event['is_completed'], true)
    assert.match(String(event['created_at']), /^\d{4}-.*Z$/)
    assert.ok('approval_status' in event && 'approval_id' in event)
  }
  const [said, , used, answered, last] = events
  assert.equal(said!['content'], query)
  assert.deepEqual(JSON.parse(String(used!['tool_input_json'])), input)
  assert.equal(used!['tool_name'], 'Tool')
  assert.equal(answered!['tool_result_for_id'], used!['tool_id'])
  assert.equal(answered!['tool_result_content'], '(pretend) called Tool')
  assert.equal(last!['content'], 'tool said: (pretend) called Tool')
})

test('what was said to a running turn stands where the agent heard it', () => {
  const input = [{ type: 'text' as const, text: 'rather this' }]
  const common = { turnId: 't1', steerId: 'x1', input, origin: null }
  const rows = told([
    call('c1'),
    { type: 'turn.steered', ...common, key: null },
    result('c1'),
    { type: 'turn.steer_accepted', ...common },
  ])
  assert.deepEqual(
    rows.map(({ event_type, role, content }) => [event_type, role, content]),
    [
      ['tool_call', undefined, undefined],
      ['tool_result', 'user', undefined],
      ['message', 'user', 'rather this'],
    ],
  )
})

test('by session, by run, by the id of the agent; neither, unknown', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('hello')
  const { claude_session_id, run_id } = await rig.state(id)
  const bySession = await rig.call('getConversation', { session_id: id })
  assert.deepEqual(await rig.call('getConversation', { session_id: run_id }), bySession)
  assert.deepEqual(await rig.call('getConversation', { claude_session_id }), bySession)
  assert.deepEqual(await rig.call('getConversation', { claude_session_id, session_id: 'nobody' }), bySession)
  assert.deepEqual(await rig.call('getConversation', { claude_session_id: 'nobody' }), { events: [] })
  for (const params of [{}, { session_id: '' }, null]) {
    await assert.rejects(rig.call('getConversation', params), {
      message: 'either session_id or claude_session_id is required',
    })
  }
  await assert.rejects(rig.call('getConversation', { session_id: 'nobody' }), {
    message: 'failed to get conversation: session not found: nobody',
    data: { code: 'session_not_found' },
  })
})

test('what a session came from stays in its conversation, also when that was destroyed and the log put in order', async (t) => {
  const rig = await rigFor(t)
  const line = [await rig.run('[[say one]]')]
  for (const word of ['two', 'three']) {
    const params = { session_id: line.at(-1), query: `[[say ${word}]]` }
    const { session_id } = await rig.call<{ session_id: string }>('continueSession', params)
    await rig.reaches(session_id, 'completed')
    line.push(session_id)
  }
  const [first, second, third] = line as [string, string, string]
  const whole = await rig.call<{ events: unknown[] }>('getConversation', { session_id: third })
  assert.equal(whole.events.length, 6)
  const tidy = async () => {
    const request = { eventsBefore: null, destroyedBefore: Date.now() + 1000, limit: 1000 }
    while ((await rig.engine.log.retain(request)) > 0);
  }
  for (const parent of [second, first]) {
    await rig.engine.engine.sessions.destroy(parent)
    await tidy()
    assert.deepEqual(await rig.call('getConversation', { session_id: third }), whole)
    await assert.rejects(rig.call('getConversation', { session_id: parent }), /session not found/)
  }
  await rig.engine.engine.sessions.destroy(third)
  await tidy()
  for (const id of line) assert.equal(rig.engine.log.session(id), null, 'with the last one all of them go')
})

test('ancestors come first, over three generations, and descendants do not', async (t) => {
  const rig = await rigFor(t)
  const line = [await rig.run('[[say one]]')]
  for (const word of ['two', 'three']) {
    const params = { session_id: line.at(-1), query: `[[say ${word}]]` }
    const { session_id } = await rig.call<{ session_id: string }>('continueSession', params)
    await rig.reaches(session_id, 'completed')
    line.push(session_id)
  }
  const words = async (id: string): Promise<unknown[]> =>
    (await rig.conversation(id)).map(({ content, sequence }) => `${sequence} ${content}`)
  const one = ['1 [[say one]]', '2 one']
  const two = ['1 [[say two]]', '2 two']
  const three = ['1 [[say three]]', '2 three']
  assert.deepEqual(await words(line[0]!), one)
  assert.deepEqual(await words(line[1]!), [...one, ...two])
  assert.deepEqual(await words(line[2]!), [...one, ...two, ...three])

  // What the parent hears later is not the child's.
  await rig.engine.turn(line[0]!, '[[say later]]')
  assert.deepEqual(await words(line[1]!), [...one, ...two])
  assert.equal((await words(line[0]!)).length, 4)

  const { claude_session_id } = await rig.state(line[2]!)
  const { events } = await rig.call<{ events: Json[] }>('getConversation', { claude_session_id })
  assert.deepEqual(
    events.map(({ content }) => content),
    ['[[say three]]', 'three'],
  )
})

test('a child that has no conversation of its own yet shows its ancestors', async (t) => {
  const rig = await rigFor(t)
  const parent = await rig.run('[[say one]]')
  const child = await rig.engine.engine.sessions.fork({ sessionId: parent })
  const events = await rig.conversation(child.id)
  assert.deepEqual(
    events.map(({ content }) => content),
    ['[[say one]]', 'one'],
  )
})

test('page by page', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('[[think a]] [[shell ls]]', { dangerously_skip_permissions: true })
  const all = await rig.conversation(id)
  const pages: Json[] = []
  let since: unknown
  for (;;) {
    const page = await rig.call('getConversation', { session_id: id, limit: 2, since })
    pages.push(...(page['events'] as Json[]))
    if (page['next_since'] === undefined) break
    since = page['next_since']
  }
  assert.deepEqual(pages, all)
  const newest = await rig.call<{ events: Json[] }>('getConversation', {
    session_id: id,
    since: all.at(-2)!['id'],
  })
  assert.deepEqual(newest.events, all.slice(-1))
})

test('the state of an approval is seen at its call while it waits and after', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[shell ls]]')
  await rig.reaches(session_id, 'waiting_input')
  const { data } = await rig.event('new_approval')
  const callOf = async (): Promise<Json> =>
    (await rig.conversation(session_id)).find(({ event_type }) => event_type === 'tool_call')!
  const pending = await callOf()
  assert.deepEqual(
    [pending['approval_status'], pending['approval_id'], pending['is_completed']],
    ['pending', data['approval_id'], false],
  )
  await rig.call('sendDecision', { approval_id: data['approval_id'], decision: 'approve' })
  await rig.reaches(session_id, 'completed')
  const approved = await callOf()
  assert.deepEqual([approved['approval_status'], approved['is_completed']], ['approved', true])
})

test('the reason of a denial is in the conversation', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[shell rm]]')
  const { data } = await rig.event('new_approval')
  await rig.call('sendDecision', { approval_id: data['approval_id'], decision: 'deny', comment: 'too bold' })
  await rig.reaches(session_id, 'completed')
  const said = (await rig.conversation(session_id)).find(
    ({ content }) => content === 'Denied Shell: too bold',
  )!
  assert.deepEqual(
    [said['event_type'], said['role'], said['approval_status'], said['approval_id']],
    ['message', 'user', 'denied', data['approval_id']],
  )
})

test('a failure is told as a system event', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[sayfail 529 nearly]]')
  await rig.reaches(session_id, 'failed')
  const last = (await rig.conversation(session_id)).at(-1)!
  assert.deepEqual([last['event_type'], last['role']], ['system', 'system'])
  assert.match(String(last['content']), /529/)
})

test('approvals are shown at the calls that they name, also when they come before them', () => {
  assert.deepEqual(links(told([call('c1'), call('c2'), asked({ callId: 'c1' })])), [
    ['c1', 'a1', 'pending'],
    ['c2', null, null],
  ])
  assert.deepEqual(links(told([asked({ callId: 'c1' }), call('c0'), call('c1')])), [
    ['c0', null, null],
    ['c1', 'a1', 'pending'],
  ])
  // One that names no call belongs to none.
  assert.deepEqual(links(told([call('c1'), asked()])), [['c1', null, null]])
  // Two at once keep apart.
  const two = [call('c1'), call('c2'), asked({ callId: 'c2' }), asked({ id: 'a2', callId: 'c1' })]
  const deny: EventBody = {
    type: 'approval.resolved',
    approvalId: 'a2',
    decision: { behavior: 'deny', comment: '' },
    by: 'x',
  }
  assert.deepEqual(links(told([...two, deny])), [
    ['c1', 'a2', 'denied'],
    ['c2', 'a1', 'pending'],
  ])
})

test('answers in words, cancelled questions, notices and what only verbose sessions show', () => {
  const respond: EventBody = {
    type: 'approval.resolved',
    approvalId: 'a1',
    decision: { behavior: 'respond', text: 'blue' },
    by: 'x',
  }
  const rows = told([call('c1', 'Ask'), asked({ tool: 'Ask', callId: 'c1', kind: 'question' }), respond])
  assert.deepEqual(links(rows), [['c1', 'a1', 'resolved']])
  assert.deepEqual([rows[1]!.role, rows[1]!.content, rows[1]!.approval_status], ['user', 'blue', 'resolved'])

  const cancel: EventBody = { ...respond, decision: { behavior: 'cancelled', reason: 'gone' } }
  assert.deepEqual(links(told([call('c1'), asked({ callId: 'c1' }), cancel])), [['c1', 'a1', 'resolved']])

  const notice = { type: 'agent.notice', code: 'x', message: 'look', data: null } as const
  const chatter: EventBody[] = [
    { type: 'agent.init', nativeId: 'n1', model: 'm', version: '1', raw: {} },
    { ...notice, level: 'info' },
    { ...notice, level: 'warning' },
  ]
  assert.deepEqual(
    told(chatter).map(({ content }) => content),
    ['look'],
  )
  assert.deepEqual(
    told(chatter, true).map(({ event_type, content }) => [event_type, content]),
    [
      ['system', 'Agent started, model m, version 1'],
      ['system', 'look'],
      ['system', 'look'],
    ],
  )
})

test('a result that was cut says so, and by how much', () => {
  const [whole, cut] = told([result('c1'), { ...result('c2'), cut: 77 } as EventBody])
  assert.deepEqual([whole!.tool_result_content, 'truncated_bytes' in whole!], ['ok', false])
  assert.deepEqual([cut!.tool_result_content, cut!.truncated_bytes], ['ok\n[… 77 more bytes]', 77])
})

test('images, sub-agents and silence', () => {
  const [said, inner] = told([
    {
      type: 'turn.queued',
      turnId: 't1',
      input: [
        { type: 'text', text: 'see' },
        { type: 'image', mediaType: 'image/png', data: 'AA==' },
      ],
      key: null,
      origin: null,
      position: 0,
    },
    { type: 'turn.started', turnId: 't1' },
    { type: 'message.completed', messageId: 'm0', kind: 'text', text: '', parent: null, aborted: true },
    { type: 'message.completed', messageId: 'm1', kind: 'text', text: 'hi', parent: 'c9', aborted: false },
  ])
  assert.equal(said!.content, 'see\n[image]')
  assert.deepEqual([inner!.sequence, inner!.parent_tool_use_id], [2, 'c9'])
})
