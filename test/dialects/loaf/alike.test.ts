import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Event, EventBody } from '../../../src/core/event.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { createConversation } from '../../../src/dialects/loaf/conversation.ts'
import { seqOf } from '../../../src/dialects/loaf/record.ts'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { aQuestion } from '../../support/session.ts'
import { clientFor, demoSession, talking, type EventParams } from './support.ts'
import { until } from '../../support/wait.ts'

const message = (text: string) => ({
  input: [{ type: 'text' as const, text }],
  key: null,
  origin: null,
})
const queued = (turnId: string, text: string, position = 0): EventBody => {
  return { type: 'turn.queued', turnId, ...message(text), position }
}
const started = (turnId: string): EventBody => ({ type: 'turn.started', turnId })
const completed = (turnId: string): EventBody => ({
  type: 'turn.completed',
  turnId,
  usage: NO_USAGE,
  text: null,
})
const failed = (turnId: string): EventBody => {
  return { type: 'turn.failed', turnId, usage: NO_USAGE, error: { code: 'model_error', message: 'no' } }
}
const piece = (messageId: string, text: string): EventBody => {
  return { type: 'message.delta', messageId, kind: 'text', text, parent: null }
}
const whole = (messageId: string, text: string): EventBody => {
  return { type: 'message.completed', messageId, kind: 'text', text, parent: null, aborted: false }
}
const begun = (callId: string): EventBody => {
  return { type: 'tool.started', callId, tool: 'Bash', input: {}, parent: null }
}
const result = (callId: string): EventBody => {
  return { type: 'tool.completed', callId, output: 'out', isError: false, parent: null, cut: 0 }
}
const asks = (id: string, callId: string | null, open = true): EventBody => {
  const approval = aQuestion(id, { callId })
  return { type: 'approval.requested', turnId: null, approval, open, external: false, timeoutAt: null }
}
const decides = (approvalId: string, asked = true): EventBody => {
  const decision = { behavior: 'allow' } as const
  return { type: 'approval.resolved', approvalId, decision, by: asked ? 'me' : 'rule', asked }
}
const edited = (turnId: string, text: string): EventBody => {
  return { type: 'turn.edited', turnId, input: message(text).input }
}
const steer = { turnId: 't1', steerId: 's1', ...message('left') }
const steered: EventBody = { type: 'turn.steered', ...steer }
const taken: EventBody = { type: 'turn.steer_accepted', ...steer }

const inOrder = (bodies: readonly EventBody[]): Event[] =>
  bodies.map((body, at) => ({ at: 0, sessionId: 's', ...body, seq: at + 1 }) as Event)

/** What is told about these events of the log, with its numbers. */
function read(events: readonly Event[]) {
  const conversation = createConversation({ sessionId: 's', provider: () => 'openai' })
  const told = events.flatMap((event) =>
    conversation.step(event).map((one, index) => ({ ...one, seq: seqOf(event, index) })),
  )
  return { told, conversation, state: conversation.state(0) }
}

/** The log as it is later: pieces of complete messages are gone. */
const later = (events: readonly Event[]) => events.filter(({ type }) => type !== 'message.delta')

const lasting = (told: ReturnType<typeof read>['told']) =>
  told.filter(({ type }) => !/status|chunk|debug/.test(type))

const labels = (...bodies: EventBody[]) =>
  read(inOrder(bodies)).told.flatMap(({ payload }) => payload['status_label'] ?? [])

describe('read live and read later', () => {
  const EVENTS = inOrder([
    queued('t1', 'first'),
    started('t1'),
    queued('t2', 'never', 1),
    queued('t3', 'second', 2),
    piece('m1', 'Let me '),
    begun('c1'),
    asks('a1', 'c1'),
    piece('m1', 'look'),
    decides('a1'),
    steered,
    result('c1'),
    whole('m1', 'Let me look.'),
    taken,
    { type: 'turn.cancelled', turnId: 't2', reason: 'removed' },
    piece('m2', 'Some'),
    whole('m2', 'Something else.'),
    piece('m3', 'Drafted'),
    whole('m3', 'Written anew'),
    completed('t1'),
    started('t3'),
    piece('m4', 'No'),
    { type: 'turn.interrupting', turnId: 't3' },
    { ...whole('m4', 'No'), aborted: true } as EventBody,
    { type: 'turn.interrupted', turnId: 't3', usage: NO_USAGE },
  ])

  test('the same is told, under the same numbers', () => {
    const live = read(EVENTS)
    const replayed = read(later(EVENTS))
    assert.deepEqual(lasting(replayed.told), lasting(live.told))
    assert.deepEqual(replayed.state, live.state)
  })

  test('a message that was edited waits and is said as it is then; one that became a steer waits no more', () => {
    const waiting = [queued('t1', 'go'), started('t1'), queued('t2', 'one', 1), queued('s1', 'left', 2)]
    const moved = [edited('t2', 'two'), { type: 'turn.moved', turnId: 't2', position: 2 } as const]
    const texts = (bodies: EventBody[]) => read(inOrder(bodies)).state.queue.map(({ text }) => text)
    assert.deepEqual(texts([...waiting, ...moved]), ['left', 'two'])
    const brought: EventBody = { type: 'turn.cancelled', turnId: 's1', reason: 'sent', steered: 't1' }
    const all = [...waiting, ...moved, brought, steered, taken, completed('t1'), started('t2')]
    assert.deepEqual(texts([...waiting, ...moved, brought, steered]), ['two'])
    const said = read(inOrder(all)).state.messages.filter(({ kind }) => kind === 'user')
    assert.deepEqual(
      said.map(({ text }) => text),
      ['go', 'left', 'two'],
    )
  })

  test('messages stand where their turns begin, steers where they were taken, and cancelled ones nowhere', () => {
    assert.deepEqual(
      read(EVENTS).state.messages.map(({ kind, text }) => [kind, text]),
      [
        ['user', 'first'],
        ['user', 'left'],
        ['assistant', 'Let me look.Something else.Written anew'],
        ['user', 'second'],
        ['assistant', 'No'],
        ['system', 'response interrupted by user. partial output kept.'],
      ],
    )
    assert.ok(!JSON.stringify(read(EVENTS).state).includes('never'))
  })
})

describe('a question', () => {
  const turn = [queued('t1', 'go'), started('t1')]

  test('that a rule answers is told to nobody, also while another one waits', () => {
    const before = labels(...turn, begun('c1'), asks('a1', 'c1'))
    assert.equal(before.at(-1), 'waiting for approval: Bash')
    const quiet = [asks('a2', 'c2', false), decides('a2', false)]
    assert.deepEqual(labels(...turn, begun('c1'), asks('a1', 'c1'), ...quiet), before)
  })

  test('is over when no other one waits', () => {
    const both = [...turn, asks('a1', 'c1'), asks('a2', 'c2')]
    assert.equal(labels(...both, decides('a1')).at(-1), 'waiting for approval: Bash')
    assert.equal(labels(...both, decides('a1'), decides('a2')).at(-1), 'thinking...')
  })

  test('from outside, where nothing runs, does not keep a session busy', () => {
    const { conversation } = read(inOrder([asks('a1', null), decides('a1')]))
    assert.equal(conversation.busy, false)
    assert.equal(conversation.state(0).pending, false)
  })
})

test('a turn that failed is forgotten with all that was said to it', () => {
  const { state } = read(inOrder([queued('t1', 'go'), started('t1'), steered, taken, failed('t1')]))
  assert.deepEqual([state.history, state.contextTokenEstimate], [[], 0])
})

describe('two clients', () => {
  let daemon: TestDaemon
  let native: NativeClient

  before(async () => {
    daemon = await startDaemon()
    native = await connect(daemon.socket)
  })
  after(async () => {
    native.close()
    await daemon.stop()
  })

  test('are told the same, one live and the other afterwards', async (t) => {
    const client = clientFor(t, daemon)
    const { send, status } = talking(() => client)
    const sessionId = await demoSession(client)
    await native.call('session.configure', { sessionId, mode: 'ask' })
    const from = client.lines.length
    await send(sessionId, '[[say one]] [[shell wait]]')
    await status(sessionId, /waiting for approval/)
    await send(sessionId, 'never', { enqueue: true })
    await client.call('session.queue.clear', { session_id: sessionId })
    await send(sessionId, 'next', { enqueue: true })
    await client.call('session.steer', { session_id: sessionId, text: '[[say steered]]' })
    const { approvals } = await native.call('approval.list', { sessionId })
    await native.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'allow' })
    await until(() => client.events('session.completed')[1], 'both turns')
    await status(
      sessionId,
      'ready',
      client.lines.findLastIndex(({ params }) => params?.type === 'session.completed'),
    )

    const story = (events: EventParams[]) =>
      events
        .filter(({ type }) => /appended|tool|completed/.test(type))
        .map(({ type, seq, payload }) => ({ type, seq, payload }))
    const live = client.lines.slice(from).flatMap(({ params }) => params ?? [])
    const other = clientFor(t, daemon)
    const replay = await other.call<{ events: EventParams[] }>('events.replay', { session_id: sessionId })
    assert.deepEqual(story(replay.events), story(live))
    assert.deepEqual((await other.state(sessionId)).messages, (await client.state(sessionId)).messages)
    assert.ok(!JSON.stringify(story(live)).includes('never'))
  })
})
