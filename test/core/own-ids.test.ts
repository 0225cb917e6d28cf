import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventBody } from '../../src/core/event.ts'
import { inOwnIds, ownIds } from '../../src/core/own-ids.ts'
import { NO_USAGE } from '../../src/core/usage.ts'

const piece = (messageId: string): EventBody => ({
  type: 'message.delta',
  messageId,
  kind: 'text',
  text: 'x',
  parent: null,
})
const message = (messageId: string, parent: string | null = null): EventBody => ({
  type: 'message.completed',
  messageId,
  kind: 'text',
  text: 'xx',
  parent,
  aborted: false,
})
const call = (callId: string): EventBody => ({
  type: 'tool.started',
  callId,
  tool: 't',
  input: {},
  parent: null,
})
const result = (callId: string): EventBody => ({
  type: 'tool.completed',
  callId,
  output: '',
  isError: false,
  parent: null,
  cut: 0,
})
const question = (callId: string, external = false): EventBody => ({
  type: 'approval.requested',
  turnId: 't',
  open: true,
  external,
  timeoutAt: null,
  approval: {
    id: 'a',
    requestId: 'r',
    kind: 'tool',
    tool: 't',
    input: {},
    edits: false,
    callId,
    summary: null,
    suggestions: null,
    parent: null,
  },
})
const END: EventBody = {
  type: 'turn.interrupted',
  turnId: 't',
  usage: {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd: null,
    durationMs: 0,
    modelCalls: 0,
  },
}

function idOf(body: EventBody): string | null {
  if ('messageId' in body) return body.messageId
  if (body.type === 'approval.requested') return body.approval.callId
  return 'callId' in body ? body.callId : null
}

/** The ids that facts get, numbered from 1. */
function named(bodies: EventBody[], past: EventBody[] = []): (string | null)[] {
  const ids = ownIds(past)
  return bodies.map((body, at) => idOf(inOwnIds(ids, body, past.length + at + 1)))
}

test('a message keeps its id from its first piece to its end, and the next one of that name has another', () => {
  assert.deepEqual(named([piece('m'), piece('m'), message('m'), message('m'), piece('m')]), [
    'm-1',
    'm-1',
    'm-1',
    'm-4',
    'm-5',
  ])
})

test('a call keeps its id from the first that is said about it to its result', () => {
  assert.deepEqual(named([question('c'), call('c'), result('c'), call('c'), question('c'), result('c')]), [
    'c-1',
    'c-1',
    'c-1',
    'c-4',
    'c-4',
    'c-4',
  ])
})

test('a call that a turn left without a result is not the call of that name in the next turn', () => {
  assert.deepEqual(named([call('c'), END, call('c')]), ['c-1', null, 'c-3'])
  assert.deepEqual(named([call('c'), END, question('c'), call('c')]), ['c-1', null, 'c-3', 'c-3'])
  assert.deepEqual(named([call('c'), END, result('c')]), ['c-1', null, 'c-1'], 'in the background it went on')
})

test('what a sub-agent says is told with the id of its call', () => {
  const ids = ownIds()
  inOwnIds(ids, call('task'), 1)
  const said = inOwnIds(ids, message('m', 'task'), 2)
  assert.equal(said.type === 'message.completed' && said.parent, 'task-1')
})

test('whoever asks from outside finds its own name again, or the id of the call that runs', () => {
  assert.deepEqual(named([question('c', true), call('c')]), ['c', 'c'])
  assert.deepEqual(named([call('c'), question('c', true)]), ['c-1', 'c-1'])
  assert.deepEqual(named([call('c'), question('c-1', true)]), ['c-1', 'c-1'])
})

test('what the log has of the running turn is known after a restart', () => {
  const all = [piece('m'), question('c'), call('c'), piece('m'), message('m'), result('c'), call('c')]
  const whole = named(all)
  for (let cut = 0; cut <= all.length; cut++) {
    const ids = ownIds()
    const past = all.slice(0, cut).map((body, at) => inOwnIds(ids, body, at + 1))
    assert.deepEqual(named(all.slice(cut), past), whole.slice(cut), `cut at ${cut}`)
  }
})

test('no call is inside of itself', () => {
  const ids = ownIds()
  const call = { type: 'tool.started', callId: 'c', tool: 'Task', input: {}, parent: 'c' } as const
  assert.deepEqual(inOwnIds(ids, call, 3), { ...call, callId: 'c-3', parent: null })
  const end = { type: 'turn.completed', turnId: 't', usage: NO_USAGE, text: null } as const
  inOwnIds(ids, end, 4)
  assert.deepEqual(inOwnIds(ids, call, 5), { ...call, callId: 'c-5', parent: 'c-3' })
})
