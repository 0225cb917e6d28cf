import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { emptyConversation, isAtRest, step } from '../../src/core/conversation/conversation.ts'
import type { Change } from '../../src/core/conversation/item.ts'
import type { Event, EventBody } from '../../src/core/event.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

const queued = (turnId: string, text: string, position = 0): EventBody => ({
  type: 'turn.queued',
  turnId,
  input: [{ type: 'text', text }],
  key: null,
  origin: 'test',
  position,
})
const started = (turnId: string): EventBody => ({ type: 'turn.started', turnId })
const completed = (turnId: string): EventBody => ({
  type: 'turn.completed',
  turnId,
  usage: NO_USAGE,
  text: null,
})
const piece = (text: string, messageId = 'm'): EventBody => ({
  type: 'message.delta',
  messageId,
  kind: 'text',
  text,
  parent: null,
})
const whole = (text: string, messageId = 'm'): EventBody => ({
  type: 'message.completed',
  messageId,
  kind: 'text',
  text,
  parent: null,
  aborted: false,
})
const call = (callId: string): EventBody => ({
  type: 'tool.started',
  callId,
  tool: 'shell',
  input: {},
  parent: null,
})
const result = (callId: string, isError = false): EventBody => ({
  type: 'tool.completed',
  callId,
  output: 'out',
  isError,
  parent: null,
  cut: 0,
})
const question = (id: string, callId: string | null, open = true, external = false): EventBody => ({
  type: 'approval.requested',
  turnId: 't1',
  open,
  external,
  timeoutAt: null,
  approval: {
    id,
    requestId: id,
    kind: 'tool',
    tool: 'shell',
    input: {},
    edits: false,
    callId,
    summary: null,
    suggestions: null,
    parent: null,
  },
})
const answer = (approvalId: string, behavior: 'allow' | 'deny', asked = true): EventBody => ({
  type: 'approval.resolved',
  approvalId,
  decision: behavior === 'allow' ? { behavior } : { behavior, comment: 'no' },
  by: asked ? 'me' : 'rule',
  asked,
})

function events(bodies: EventBody[]): Event[] {
  return bodies.map((body, at) => ({ seq: at + 1, at: at + 1, sessionId: 's', ...body }) as Event)
}

/** Each change as one short line. */
function told(changes: Change[]): string[] {
  return changes.map((change) => {
    switch (change.type) {
      case 'waits':
      case 'said':
      case 'withdrawn':
        return `${change.type} ${change.message.content.map((part) => (part.type === 'text' ? part.text : '')).join()}`
      case 'opened':
        return 'opened'
      case 'grew':
        return `grew ${change.piece} = ${change.message.text}`
      case 'closed':
        return `closed ${change.rest} = ${change.message.text}${change.message.aborted ? ' (cut off)' : ''}`
      case 'call':
        return `call ${change.call.id} ${change.was ?? 'new'} > ${change.call.state}`
      case 'asked':
        return `asked ${change.question.approval.id}${change.question.asked ? '' : ' quietly'}`
      case 'decided':
        return `decided ${change.verdict.approvalId} ${change.verdict.decision.behavior}${change.verdict.asked ? '' : ' quietly'}`
      case 'ended':
        return `ended ${change.end.outcome}`
      default:
        return change.type
    }
  })
}

function all(bodies: EventBody[]): string[] {
  const conversation = emptyConversation()
  return told(events(bodies).flatMap((event) => step(conversation, event)))
}

test('a message stands where its turn begins; one that is taken back never was there', () => {
  const changes = all([
    queued('t1', 'one'),
    started('t1'),
    queued('t2', 'two', 1),
    queued('t3', 'three', 2),
    { type: 'turn.cancelled', turnId: 't2', reason: 'removed' },
    completed('t1'),
    started('t3'),
    completed('t3'),
  ])
  assert.deepEqual(changes, [
    'waits one',
    'said one',
    'waits two',
    'waits three',
    'withdrawn two',
    'ended completed',
    'said three',
    'ended completed',
  ])
})

test('a steer stands where the agent has taken it', () => {
  const input = [{ type: 'text' as const, text: 'faster' }]
  const steered = { turnId: 't1', steerId: 's1', input, origin: null }
  const conversation = emptyConversation()
  const changes = events([
    queued('t1', 'go'),
    started('t1'),
    { type: 'turn.steered', ...steered, key: 'k' },
    { type: 'turn.steer_accepted', ...steered },
  ]).flatMap((event) => step(conversation, event))
  const said = changes.at(-1)!
  assert.ok(said.type === 'said' && said.message.steer)
  assert.deepEqual([said.message.id, said.message.key, said.turn.id], ['s1', 'k', 't1'])
})

test('of a complete message only what no piece has told is the rest', () => {
  assert.deepEqual(all([piece('a'), piece('b'), whole('abc')]), [
    'opened',
    'grew a = a',
    'grew b = ab',
    'closed c = abc',
  ])
  assert.deepEqual(all([whole('abc')]), ['opened', 'closed abc = abc'])
  assert.deepEqual(all([piece('x'), whole('abc')]), ['opened', 'grew x = x', 'closed abc = abc'])
  assert.deepEqual(all([whole('')]), [], 'nothing was said')
})

test('ids that repeat themselves are other messages and other calls', () => {
  const twice = [whole('one'), call('c'), result('c'), whole('two'), call('c'), result('c')]
  assert.deepEqual(all(twice), [
    'opened',
    'closed one = one',
    'call c new > running',
    'call c running > done',
    'opened',
    'closed two = two',
    'call c new > running',
    'call c running > done',
  ])
})

describe('a call', () => {
  test('that a human allows', () => {
    assert.deepEqual(all([call('c'), question('q', 'c'), answer('q', 'allow'), result('c')]), [
      'call c new > running',
      'call c running > asked',
      'asked q',
      'call c asked > running',
      'decided q allow',
      'call c running > done',
    ])
  })

  test('that is asked about before it begins', () => {
    assert.deepEqual(all([question('q', 'c'), answer('q', 'allow'), call('c'), result('c', true)]), [
      'call c new > asked',
      'asked q',
      'call c asked > running',
      'decided q allow',
      'call c running > running',
      'call c running > failed',
    ])
  })

  test('that is refused stays refused, whatever the agent says about it', () => {
    assert.deepEqual(all([call('c'), question('q', 'c'), answer('q', 'deny'), result('c', true)]).slice(3), [
      'call c asked > refused',
      'decided q deny',
      'call c refused > refused',
    ])
  })

  test('that a rule refuses before it begins, and nobody is asked', () => {
    assert.deepEqual(all([question('q', 'c', false), answer('q', 'deny', false), call('c')]), [
      'asked q quietly',
      'decided q deny quietly',
      'call c new > refused',
    ])
  })

  test('that is left open ends with its turn; a question from outside does not', () => {
    const conversation = emptyConversation()
    const bodies = [
      queued('t1', 'go'),
      started('t1'),
      call('c'),
      question('q', null, true, true),
      completed('t1'),
    ]
    const changes = told(events(bodies).flatMap((event) => step(conversation, event)))
    assert.deepEqual(changes.slice(3), [
      'call q new > asked',
      'asked q',
      'call c running > done',
      'ended completed',
    ])
    assert.deepEqual([...conversation.questions.keys()], ['q'])
    step(conversation, events([answer('q', 'allow')])[0]!)
    assert.ok(isAtRest(conversation))
  })
})

test('older logs do not say whether a human was asked: whoever decided tells it', () => {
  const { asked: _, ...old } = answer('q', 'allow') as EventBody & { type: 'approval.resolved' }
  const decided = (by: string): unknown =>
    step(emptyConversation(), events([{ ...old, by }])[0]!).map(
      (c) => c.type === 'decided' && c.verdict.asked,
    )
  assert.deepEqual([decided('mode:auto'), decided('rule'), decided('cli')], [[false], [false], [true]])
})

describe('with a real session', () => {
  let t: TestEngine
  before(async () => {
    t = await startEngine()
  })
  after(() => t.stop())

  test('a fold that begins anywhere goes on as one that began with the session', async () => {
    const { id } = await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode: 'ask' })
    const sent = await t.engine.turns.send({
      sessionId: id,
      input: [{ type: 'text', text: '[[words 3]] [[shell ls]]' }],
    })
    const asked = await t.event('approval.requested', { sessionId: id, after: sent.seq })
    const second = await t.engine.turns.send({
      sessionId: id,
      input: [{ type: 'text', text: '[[say two]]' }],
    })
    await t.engine.turns
      .send({ sessionId: id, input: [{ type: 'text', text: 'never' }] })
      .then(({ turnId }) => t.engine.turns.cancel(id, turnId))
    await t.engine.approvals.decide({
      approvalId: asked.approval.id,
      decision: { behavior: 'allow' },
      by: 'me',
    })
    const ends = async (after: number) => t.event('turn.completed', { sessionId: id, after })
    await ends((await ends(second.seq)).seq)
    const log = t.engine.events.read({ sessionId: id, limit: 1000 }).map(({ event }) => event)
    const conversation = emptyConversation()
    for (const event of log) {
      assert.deepEqual(
        t.engine.sessions.conversationBefore(event),
        conversation,
        `before ${event.seq} ${event.type}`,
      )
      step(conversation, event)
      assert.deepEqual(
        t.engine.sessions.conversationAt(id, event),
        conversation,
        `after ${event.seq} ${event.type}`,
      )
    }
    assert.ok(isAtRest(conversation))
  })

  test('questions from outside are there between their two events, also when both came in one millisecond', async () => {
    const still = await startEngine({ clock: { now: () => 1000 } })
    try {
      const { engine, cwd } = still
      const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
      const ask = () => engine.approvals.ask({ sessionId, kind: 'tool', tool: 'Bash', input: {} })
      const [first, second] = [await ask(), await ask()]
      for (const { id: approvalId } of [second, first]) {
        await engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by: 'me' })
      }
      const conversation = emptyConversation()
      for (const { event } of engine.events.read({ sessionId, after: 0, limit: 100 })) {
        assert.deepEqual(engine.sessions.conversationBefore(event), conversation)
        step(conversation, event)
        const { questions } = engine.sessions.conversationAt(sessionId, event)
        assert.deepEqual([...questions.keys()].sort(), [...conversation.questions.keys()].sort())
      }
      assert.ok(isAtRest(conversation))
    } finally {
      await still.stop()
    }
  })

  test('a question from outside that is answered after a thousand others was open all the time', async () => {
    const { engine, cwd } = t
    const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
    const ask = () => engine.approvals.ask({ sessionId, kind: 'tool', tool: 'Bash', input: {} })
    const decide = (approvalId: string) =>
      engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by: 'me' })
    const first = await ask()
    const [event] = engine.events.read({ sessionId, types: ['approval.requested'], limit: 1 })
    for (let i = 0; i < 1001; i++) await decide((await ask()).id)
    await decide(first.id)
    const { questions } = engine.sessions.conversationAt(sessionId, event!.event)
    assert.deepEqual([...questions.keys()], [first.id])
  })
})
