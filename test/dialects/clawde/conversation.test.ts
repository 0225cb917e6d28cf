import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, EventBody } from '../../../src/core/event.ts'
import { emptyConversation, step } from '../../../src/core/conversation/conversation.ts'
import type { Untold } from '../../../src/dialects/clawde/pushes.ts'
import { riskOf } from '../../../src/dialects/clawde/risk.ts'
import { spell } from '../../../src/dialects/clawde/spell.ts'
import { camelCased, bothWays, unixTimes, withAliases } from '../../../src/dialects/clawde/spelling.ts'
import { createBucket } from '../../../src/dialects/clawde/limits.ts'
import { policyOf, scopesOf, SCOPES } from '../../../src/dialects/clawde/permissions.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { aQuestion } from '../../support/session.ts'
import type { Json } from './support.ts'

const about = { turnId: 't1', open: true, external: false, timeoutAt: null }

/** What comes of these events, in short. */
function told(...bodies: EventBody[]): string[] {
  const conversation = emptyConversation()
  return bodies.flatMap((body, index) => {
    const event = { seq: index + 1, at: index, sessionId: 's1', turnId: 't1', ...body } as Event
    return step(conversation, event).flatMap((change) => spell(change, event).map(short))
  })
}

function short({ method, params }: Untold): string {
  const { message, toolCall, status, content, toolCallId } = params as Record<string, Json | undefined>
  const name = method.split('.')[1]!
  if (message) return `${name} ${message['role']} ${message['status']} ${message['content']}`
  return toolCall
    ? `${name} ${toolCall['status']} ${toolCall['id']}`
    : `${name} ${status} ${content ?? toolCallId}`
}

const started: EventBody = { type: 'tool.started', callId: 'c1', tool: 'Bash', input: {}, parent: null }
const completed: EventBody = {
  type: 'tool.completed',
  callId: 'c1',
  output: 'x',
  isError: false,
  parent: null,
  cut: 0,
}
const asked: EventBody = { type: 'approval.requested', approval: aQuestion('a1', { callId: 'c1' }), ...about }
const resolved = (behavior: 'allow' | 'deny'): EventBody => ({
  type: 'approval.resolved',
  approvalId: 'a1',
  decision: behavior === 'allow' ? { behavior } : { behavior, comment: 'no' },
  by: 'test',
})

test('a question may come after its call, or before', () => {
  assert.deepEqual(told(started, asked, resolved('allow'), completed), [
    'toolCallCreated running c1',
    'toolCallUpdated pending c1',
    'toolCallUpdated running c1',
    'toolCallUpdated done c1',
  ])
  assert.deepEqual(told(asked, started, resolved('allow'), completed), [
    'toolCallCreated pending c1',
    'toolCallUpdated running c1',
    'toolCallUpdated done c1',
  ])
})

test('what was refused stays refused, also when a rule did it', () => {
  assert.deepEqual(told(started, asked, resolved('deny'), completed).at(-1), 'toolCallUpdated rejected c1')
  const ruled: EventBody = { ...asked, open: false } as EventBody
  assert.deepEqual(told(started, ruled, resolved('deny'), completed), [
    'toolCallCreated running c1',
    'toolCallUpdated rejected c1',
  ])
  assert.deepEqual(told(started, ruled, resolved('allow'), completed), [
    'toolCallCreated running c1',
    'toolCallUpdated done c1',
  ])
})

test('what is under way when a turn ends is over, too', () => {
  const ended: EventBody = { type: 'turn.interrupted', turnId: 't1', usage: NO_USAGE }
  assert.deepEqual(told(started, ended), ['toolCallCreated running c1', 'toolCallUpdated error c1'])
})

test('a message without pieces begins and is done; an empty one is none; thoughts are none', () => {
  const message = { type: 'message.completed', messageId: 'm1', parent: null, aborted: false } as const
  assert.deepEqual(told({ ...message, kind: 'text', text: 'hi' }), [
    'messageCreated assistant streaming ',
    'messageUpdated done hi',
  ])
  assert.deepEqual(told({ ...message, kind: 'text', text: '' }), [])
  assert.deepEqual(told({ ...message, kind: 'thinking', text: 'hm' }), [])
  assert.deepEqual(told({ ...message, kind: 'text', text: 'sub', parent: 'c1' }), [])
})

test('a message is created when its turn begins; one that is taken back before never is', () => {
  const queued = (turnId: string, position: number): EventBody => ({
    type: 'turn.queued',
    turnId,
    input: [{ type: 'text', text: turnId }],
    key: null,
    origin: 'test',
    position,
  })
  const text = { type: 'message.completed', kind: 'text', parent: null, aborted: false } as const
  const events: EventBody[] = [
    queued('one', 0),
    { type: 'turn.started', turnId: 'one' },
    queued('two', 1),
    queued('three', 2),
    { type: 'turn.cancelled', turnId: 'two', reason: 'cancelled' },
    { ...text, messageId: 'm1', text: 'hi' },
    { type: 'turn.completed', turnId: 'one', usage: NO_USAGE, text: null },
    { type: 'turn.started', turnId: 'three' },
  ]
  assert.deepEqual(told(...events), [
    'messageCreated user done one',
    'messageCreated assistant streaming ',
    'messageUpdated done hi',
    'messageCreated user done three',
  ])
})

test('risks by name', () => {
  assert.deepEqual(['Bash', 'execute_command', 'delete_file'].map(riskOf), ['high', 'high', 'high'])
  assert.deepEqual(['Write', 'Edit', 'create_file'].map(riskOf), ['medium', 'medium', 'medium'])
  assert.deepEqual(['Read', 'Grep', ''].map(riskOf), ['low', 'low', 'low'])
})

test('spellings', () => {
  assert.deepEqual(camelCased({ repo_path: 'a', x: 1 }), { repoPath: 'a', x: 1 })
  assert.deepEqual(camelCased({ repo_path: 'a', repoPath: 'b' }), { repoPath: 'b' })
  assert.deepEqual(withAliases({ id: 'a' }, { sessionId: ['id'] }), { sessionId: 'a' })
  assert.deepEqual(withAliases({ id: 'a', sessionId: 'b' }, { sessionId: ['id'] }), {
    id: 'a',
    sessionId: 'b',
  })
  assert.deepEqual(bothWays({ repoPath: 1, id: 2 }), { repoPath: 1, repo_path: 1, id: 2 })
  const at = '1970-01-01T00:01:00.000Z'
  assert.deepEqual(unixTimes([{ createdAt: at, title: at }]), [{ createdAt: 60, title: at }])
  const call = { input: { runAt: 'noon', expires_at: at } }
  assert.deepEqual(unixTimes({ toolCall: call }), { toolCall: call }, 'what a tool gets is its own')
})

test('permissions are what passes, and can be read back', () => {
  assert.deepEqual(policyOf(null).mode, 'auto')
  assert.deepEqual(policyOf(SCOPES).mode, 'auto')
  for (const scopes of [
    [],
    ['file_read'],
    ['file_write'],
    ['shell_exec', 'git'],
    ['file_read', 'file_write'],
  ] as const) {
    assert.deepEqual(
      scopesOf(policyOf(scopes)),
      SCOPES.filter((scope) => (scopes as readonly string[]).includes(scope)),
    )
  }
})

test('a bucket fills again', () => {
  let now = 0
  const bucket = createBucket(10, () => now)
  assert.equal(Array.from({ length: 15 }, () => bucket.take()).filter((wait) => wait === 0).length, 10)
  assert.equal(bucket.take(), 100)
  now = 100
  assert.deepEqual([bucket.take(), bucket.take()], [0, 100])
  assert.equal(createBucket(0).take(), 0)
})
