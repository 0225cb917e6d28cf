import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, type Client, type Json } from '../dialects/humanlayer/support.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { askUntil } from '../support/wait.ts'
import { call, nobodyIn, type Rig, startRig } from './rig.ts'

let rig: Rig
let client: Client

interface Waiting {
  cwd: string
  sessionId: string
  approval: Json
}

/** Launches, and waits until the session asks. */
async function waiting(query: string, params: Json = {}): Promise<Waiting> {
  const cwd = rig.directory()
  const launched = await client.call('launchSession', { query, working_dir: cwd, ...params })
  const sessionId = String(launched['session_id'])
  const approval = await askUntil(
    async () => (await approvalsOf(sessionId))[0] ?? null,
    (found) => found !== null,
    'an approval',
  )
  assert.equal((await state(sessionId))['status'], 'waiting_input')
  return { cwd, sessionId, approval: approval! }
}

async function approvalsOf(sessionId: string): Promise<Json[]> {
  const { approvals } = await client.call<{ approvals: Json[] }>('fetchApprovals', { session_id: sessionId })
  return approvals
}

async function state(sessionId: string): Promise<Json> {
  return (await client.call<{ session: Json }>('getSessionState', { session_id: sessionId })).session
}

async function conversation(sessionId: string): Promise<Json[]> {
  return (await client.call<{ events: Json[] }>('getConversation', { session_id: sessionId })).events
}

function decide(approval: Json, params: Json): Promise<Json> {
  return client.call('sendDecision', { call_id: approval['id'], type: 'function_call', ...params })
}

function reaches(sessionId: string, status: string): Promise<Json> {
  return askUntil(
    () => state(sessionId),
    (session) => session['status'] === status,
    `${sessionId} ${status}`,
  )
}

async function open(): Promise<void> {
  client = await connect(rig.daemon.listeners['humanlayer']!)
}

describe('HumanLayer clients with the real claude', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
    await open()
  })
  after(async () => {
    client.close()
    await rig.close()
  })

  test('approve: the tool runs, and the conversation shows call, result and approval together', async () => {
    const { cwd, sessionId, approval } = await waiting('[[shell touch yes.txt]]')
    assert.deepEqual(
      [approval['type'], approval['function_name'], approval['function_args']],
      ['function_call', 'Bash', approval['tool_input']],
    )
    assert.ok(!existsSync(join(cwd, 'yes.txt')))
    assert.deepEqual(await decide(approval, { decision: 'approve' }), { success: true, error: '' })
    const session = await reaches(sessionId, 'completed')
    assert.ok(existsSync(join(cwd, 'yes.txt')))
    assert.ok(Number(session['cost_usd']) > 0 && Number(session['total_tokens']) > 0, JSON.stringify(session))
    const events = await conversation(sessionId)
    const toolCall = events.find((event) => event['event_type'] === 'tool_call')!
    assert.deepEqual(
      [toolCall['tool_name'], toolCall['is_completed'], toolCall['approval_status'], toolCall['approval_id']],
      ['Bash', true, 'approved', approval['id']],
    )
    assert.ok(events.some((event) => event['tool_result_for_id'] === toolCall['tool_id']))
    assert.equal(toolCall['claude_session_id'], session['claude_session_id'])
  })

  test('deny: the comment reaches the model and the conversation, and nothing runs', async () => {
    const { cwd, sessionId, approval } = await waiting('[[shell touch no.txt]]')
    await decide(approval, { decision: 'deny', comment: 'not on a Friday' })
    await reaches(sessionId, 'completed')
    assert.ok(!existsSync(join(cwd, 'no.txt')))
    const events = await conversation(sessionId)
    assert.match(String(events.at(-1)!['content']), /^tool said: .*not on a Friday/s)
    assert.ok(events.some((event) => event['content'] === 'Denied Bash: not on a Friday'))
  })

  test('approve with edited input: the tool does what the human wrote', async () => {
    const { cwd, sessionId, approval } = await waiting('[[write out.txt theirs]]')
    const input = approval['tool_input'] as Json
    await decide(approval, { decision: 'approve', updated_input: { ...input, content: 'ours' } })
    await reaches(sessionId, 'completed')
    assert.equal(readFileSync(join(cwd, 'out.txt'), 'utf8'), 'ours')
  })

  test('interrupt while it waits: the approval is cancelled and the session can be continued', async () => {
    const { cwd, sessionId, approval } = await waiting('[[shell touch never.txt]] [[remember Oslo]]')
    const answer = await client.call('interruptSession', { session_id: sessionId })
    assert.deepEqual(answer, { success: true, session_id: sessionId, status: 'completing' })
    const session = await reaches(sessionId, 'completed')
    assert.equal(session['outcome'], 'interrupted')
    assert.deepEqual(await approvalsOf(sessionId), [])
    const late = await decide(approval, { decision: 'approve' })
    assert.equal(late['success'], false)
    assert.ok(!existsSync(join(cwd, 'never.txt')))
    const child = await client.call('continueSession', { session_id: sessionId, query: '[[recall]]' })
    const childId = String(child['session_id'])
    await reaches(childId, 'completed')
    const events = await conversation(childId)
    assert.equal(events.at(-1)!['content'], 'recall: Oslo')
    assert.equal(events[0]!['session_id'], sessionId)
  })

  test('the daemon dies while it waits: the approval is still there, and its answer counts', async () => {
    const { cwd, sessionId, approval } = await waiting('[[shell touch later.txt]]')
    client.close()
    await rig.daemon.kill9()
    await rig.daemon.restart()
    await open()
    assert.deepEqual(
      (await approvalsOf(sessionId)).map(({ id }) => id),
      [approval['id']],
    )
    assert.equal((await state(sessionId))['status'], 'waiting_input')
    await decide(approval, { decision: 'approve' })
    await reaches(sessionId, 'completed')
    assert.ok(existsSync(join(cwd, 'later.txt')))
  })

  test('a question to the human is a human_contact, and the response is its answer', async () => {
    const { sessionId, approval } = await waiting('[[ask Which colour?]]')
    assert.equal(approval['type'], 'human_contact')
    const contact = approval['human_contact'] as { spec: { msg: string } }
    assert.match(contact.spec.msg, /Which colour\?/)
    const answer = { call_id: approval['id'], type: 'human_contact', decision: 'respond', comment: 'teal' }
    assert.deepEqual(await client.call('sendDecision', answer), { success: true, error: '' })
    await reaches(sessionId, 'completed')
    assert.match(String((await conversation(sessionId)).at(-1)!['content']), /^tool said: .*teal/s)
  })

  test('prompts, custom instructions and settings are really used, and inherited by a child', async () => {
    const cwd = rig.directory()
    const launched = await client.call('launchSession', {
      query: '[[system]]',
      working_dir: cwd,
      append_system_prompt: '[[sysword alpha]]',
      custom_instructions: '[[sysword beta]]',
      max_turns: 3,
    })
    const parent = String(launched['session_id'])
    await reaches(parent, 'completed')
    assert.equal((await conversation(parent)).at(-1)!['content'], 'system: alpha beta')
    const child = await client.call('continueSession', {
      session_id: parent,
      query: '[[system]]',
      append_system_prompt: '[[sysword gamma]]',
    })
    const id = String(child['session_id'])
    await reaches(id, 'completed')
    assert.equal((await conversation(id)).at(-1)!['content'], 'system: gamma beta')
  })

  test('max_turns ends a session that wants more, and the failure is told once', async () => {
    await client.subscribe({ event_types: ['session_status_changed'] })
    const cwd = rig.directory()
    const query = call('Bash', { command: 'echo one', description: '[[shell echo two]]' })
    const launched = await client.call('launchSession', {
      query,
      working_dir: cwd,
      max_turns: 1,
      dangerously_skip_permissions: true,
    })
    const id = String(launched['session_id'])
    await reaches(id, 'failed')
    const changes = client.events.filter(({ data }) => data['session_id'] === id)
    assert.deepEqual(
      changes.map(({ data }) => [data['old_status'], data['new_status']]),
      [
        ['starting', 'running'],
        ['running', 'failed'],
      ],
    )
  })

  test('tool lists are really used', async () => {
    const cwd = rig.directory()
    const launch = { working_dir: cwd, allowed_tools: ['Bash(touch:*)'], disallowed_tools: ['Write'] }
    const allowed = await client.call('launchSession', { query: '[[shell touch listed.txt]]', ...launch })
    await reaches(String(allowed['session_id']), 'completed')
    assert.ok(existsSync(join(cwd, 'listed.txt')))
    const refused = await client.call('launchSession', { query: '[[write unlisted.txt x]]', ...launch })
    await reaches(String(refused['session_id']), 'completed')
    assert.ok(!existsSync(join(cwd, 'unlisted.txt')))
  })

  test('nothing is left when the sessions are', async () => {
    const { sessions } = await client.call<{ sessions: Json[] }>('listSessions')
    for (const { id } of sessions) await rig.client.call('session.destroy', { sessionId: String(id) })
    await nobodyIn(rig.daemon.project)
  })
})
