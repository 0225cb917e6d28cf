import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approval } from '../../src/core/approval.ts'
import * as decide from '../../src/core/decide.ts'
import { CorralError } from '../../src/core/error.ts'
import type { AgentOutput, Event, EventBody } from '../../src/core/event.ts'
import { NO_RULES } from '../../src/core/rule.ts'
import { apply, openApprovals, statusOf, tierOf, type Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { aSession } from '../support/session.ts'

let seq = 1

function after(state: Session, bodies: EventBody[]): Session {
  return bodies.reduce(
    (now, body) => apply(now, { seq: ++seq, at: seq, sessionId: now.id, ...body } as Event),
    state,
  )
}

const run = { id: 'r1', pid: 1, startTime: '1', bootId: 'b' }
const message = { sessionId: 's1', input: [] }
const ended = (outcome: 'completed' | 'failed' | 'interrupted'): AgentOutput => ({
  type: 'turn.ended',
  outcome,
  usage: NO_USAGE,
  error: outcome === 'failed' ? { code: 'model_error', message: 'no' } : null,
  text: null,
})
const question = (id: string, kind: Approval['kind'] = 'tool'): Approval => ({
  id,
  requestId: id,
  kind,
  tool: 'Bash',
  input: {},
  edits: false,
  callId: null,
  summary: null,
  suggestions: null,
  parent: null,
})
const exit = { code: 1, signal: null, stderr: 'why\nbecause\n', expected: false }
const types = (bodies: EventBody[]): string[] => bodies.map((body) => body.type)

function running(patch: Partial<Session> = {}): Session {
  const started = after(aSession(patch), decide.send(aSession(patch), 't1', message, 10))
  return after(started, [
    { type: 'agent.started', run, resumed: false },
    { type: 'turn.accepted', turnId: 't1' },
  ])
}

test('the first message starts at once, the others wait behind it with their position', () => {
  const one = after(aSession(), decide.send(aSession(), 't1', message, 10))
  assert.equal(one.turn?.id, 't1')
  const two = after(one, decide.send(one, 't2', message, 10))
  assert.deepEqual(two.queue, ['t2'])
  const third = decide.send(two, 't3', message, 10)[0]
  assert.equal(third?.type === 'turn.queued' && third.position, 2)
})

test('a message behind a waiting one never overtakes it, also when nothing runs', () => {
  const paused = after(aSession(), [{ type: 'session.changed', paused: true }])
  const waiting = after(paused, decide.send(paused, 't1', message, 10))
  const resumed = after(waiting, decide.setPaused(waiting, false))
  assert.deepEqual(types(decide.send(resumed, 't2', message, 10)), ['turn.queued'])
  assert.deepEqual(decide.advance(resumed), [{ type: 'turn.started', turnId: 't1' }])
})

test('status follows from facts: two open approvals, one answered, and it still waits', () => {
  let state = running({ mode: 'ask' })
  for (const id of ['a', 'b'])
    state = after(state, decide.absorb(state, { type: 'approval.asked', approval: question(id) }, 0))
  assert.equal(statusOf(state), 'waiting')
  state = after(state, decide.decideApproval(state, 'a', { behavior: 'allow' }, 'me', 0))
  assert.equal(statusOf(state), 'waiting')
  state = after(state, decide.decideApproval(state, 'b', { behavior: 'deny', comment: 'no' }, 'me', 0))
  assert.equal(statusOf(state), 'running')
  assert.throws(() => decide.decideApproval(state, 'b', { behavior: 'allow' }, 'me', 0), {
    code: 'approval_resolved',
  })
})

test('the same request read twice is one approval', () => {
  const state = running({ mode: 'ask' })
  const asked = after(state, decide.absorb(state, { type: 'approval.asked', approval: question('a') }, 0))
  assert.deepEqual(decide.absorb(asked, { type: 'approval.asked', approval: question('a') }, 0), [])
})

test('what is asked after an interrupt is refused, what was open before is cancelled', () => {
  let state = running({ mode: 'ask' })
  state = after(state, decide.absorb(state, { type: 'approval.asked', approval: question('a') }, 0))
  const events = decide.interrupt(state, false)
  assert.deepEqual(types(events), ['approval.resolved', 'turn.interrupting'])
  state = after(state, events)
  const late = decide.absorb(state, { type: 'approval.asked', approval: question('b') }, 0)
  assert.equal(late[1]?.type === 'approval.resolved' && late[1].decision.behavior, 'deny')
  assert.deepEqual(decide.interrupt(state, false), [], 'a second interrupt changes nothing')
})

test('a process that dies before it has the message is replaced once, after that the turn fails with its last words', () => {
  const started = after(aSession(), decide.send(aSession(), 't1', message, 10))
  const first = decide.exited(started, 'r1', exit, 'Agent')
  assert.deepEqual(types(first), ['agent.exited', 'turn.retried'])
  const second = decide.exited(after(started, first), 'r2', exit, 'Agent')
  assert.deepEqual(types(second), ['agent.exited', 'turn.failed'])
  const failed = second[1]
  assert.equal(
    failed?.type === 'turn.failed' && failed.error.message,
    'Agent exited with code 1 during the turn: because',
  )
})

test('a process that dies in the middle of a turn ends it: failed, or interrupted if that was asked for', () => {
  assert.deepEqual(types(decide.exited(running(), 'r1', exit, 'Agent')), ['agent.exited', 'turn.failed'])
  const state = running()
  const stopping = after(state, decide.interrupt(state, false))
  assert.deepEqual(types(decide.exited(stopping, 'r1', exit, 'Agent')), ['agent.exited', 'turn.interrupted'])
})

test('plan mode that the agent enters and leaves by itself gives the old mode back', () => {
  let state = running({ mode: 'auto' })
  state = after(state, decide.absorb(state, { type: 'mode.observed', mode: 'plan' }, 0))
  assert.equal(state.mode, 'plan')
  state = after(state, decide.absorb(state, { type: 'mode.observed', mode: 'ask' }, 0))
  assert.equal(state.mode, 'auto')
  assert.deepEqual(
    decide.absorb(state, { type: 'mode.observed', mode: 'ask' }, 0),
    [],
    'auto looks like ask to an agent',
  )
})

test('any order of events keeps the invariants of a session', () => {
  let random = 42
  const next = (below: number): number => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((random / 2_147_483_648) * below)
  }
  for (let walk = 0; walk < 300; walk++) {
    let state = aSession({ mode: (['auto', 'code', 'plan', 'ask'] as const)[next(4)]! })
    const accepted: string[] = []
    const startedOrder: string[] = []
    for (let step = 0; step < 60 && !state.destroyed; step++) {
      const bodies = [...possible(state, next, `w${walk}-${step}`)]
      const moved = after(state, bodies)
      const all = [...bodies, ...decide.advance(moved)]
      accepted.push(...all.flatMap((b) => (b.type === 'turn.queued' ? [b.turnId] : [])))
      startedOrder.push(...all.flatMap((b) => (b.type === 'turn.started' ? [b.turnId] : [])))
      state = after(moved, all.slice(bodies.length))
      assert.ok(!state.turn || !state.queue.includes(state.turn.id), 'a running turn does not wait')
      if (!state.turn) assert.equal(openApprovals(state).length, 0, 'nothing is asked outside a turn')
      if (!state.turn && !state.paused && !state.destroyed)
        assert.equal(state.queue.length, 0, 'nothing waits for nothing')
      assert.equal(tierOf(state) === 'active', state.turn !== null)
    }
    assert.deepEqual(
      startedOrder,
      accepted.filter((id) => startedOrder.includes(id)),
      'first in, first out',
    )
    assert.equal(new Set(startedOrder).size, startedOrder.length, 'no turn starts twice')
  }
})

/** One thing that may happen next. */
function possible(state: Session, next: (below: number) => number, id: string): EventBody[] {
  try {
    switch (next(10)) {
      case 0:
      case 1:
      case 2:
        return decide.send(state, id, message, 5)
      case 3:
        return state.turn
          ? decide.absorb(state, ended((['completed', 'failed', 'interrupted'] as const)[next(3)]!), 0)
          : []
      case 4:
        return state.turn ? decide.absorb(state, { type: 'approval.asked', approval: question(id) }, 0) : []
      case 5:
        return decide.interrupt(state, next(2) === 0)
      case 6:
        return decide.setPaused(state, next(2) === 0)
      case 7:
        return decide.exited(state, 'r1', { ...exit, expected: next(3) === 0 }, 'Agent')
      case 8: {
        const open = openApprovals(state)[0]
        return open ? decide.decideApproval(state, open.id, { behavior: 'allow' }, 'me', 0) : []
      }
      default:
        return next(20) === 0 ? decide.destroy(state) : []
    }
  } catch (error) {
    assert.ok(error instanceof CorralError)
    return []
  }
}

test('rules: a denial wins, edits and patterns pass, a time ends, and plan mode stays read-only', () => {
  const ask = (
    rules: Partial<Session['rules']>,
    approval: Partial<Approval>,
    mode: Session['mode'] = 'ask',
    now = 0,
  ) => {
    const state = running({ mode, rules: { ...NO_RULES, ...rules } })
    const [, resolved] = decide.absorb(
      state,
      { type: 'approval.asked', approval: { ...question('a'), ...approval } },
      now,
    )
    return resolved?.type === 'approval.resolved' ? resolved.decision.behavior : 'asked'
  }
  const git = { tool: 'Bash', input: { command: 'git status' } }
  assert.equal(ask({ allow: ['Bash(git *)'] }, git), 'allow')
  assert.equal(ask({ allow: ['Bash(git *)'] }, { tool: 'Bash', input: { command: 'rm git ' } }), 'asked')
  assert.equal(
    ask({ allow: ['Bash'], deny: ['Bash(git push*)'] }, { ...git, input: { command: 'git push -f' } }),
    'deny',
  )
  assert.equal(ask({ deny: ['Bash'] }, git, 'auto'), 'deny')
  assert.equal(ask({ acceptEdits: true }, { tool: 'Write', edits: true }), 'allow')
  assert.equal(ask({ acceptEdits: true }, git), 'asked')
  assert.equal(ask({ skipUntil: 100 }, git, 'ask', 99), 'allow')
  assert.equal(ask({ skipUntil: 100 }, git, 'ask', 100), 'asked')
  assert.equal(ask({ allow: ['*'] }, git, 'plan'), 'deny')
  assert.equal(ask({ allow: ['mcp__*__read'] }, { tool: 'mcp__files__read' }), 'allow')
  assert.equal(ask({ skipUntil: 100 }, { kind: 'question' }), 'asked', 'a question is for the human')
})

test('allowing for the session makes a rule, which answers what else is open and matches', () => {
  let state = running({ mode: 'ask' })
  for (const id of ['a', 'b', 'c']) {
    const approval = { ...question(id), input: { command: id === 'c' ? 'rm x' : 'ls' } }
    state = after(state, decide.absorb(state, { type: 'approval.asked', approval }, 0))
  }
  const events = decide.decideApproval(state, 'a', { behavior: 'allow', forSession: true }, 'me', 0)
  assert.deepEqual(types(events), ['approval.resolved', 'session.changed', 'approval.resolved'])
  state = after(state, events)
  assert.deepEqual(state.rules.allow, ['Bash(ls)'])
  assert.deepEqual(
    openApprovals(state).map((a) => a.id),
    ['c'],
  )
  state = after(state, decide.configure(state, { sessionId: 's1', rules: { skipUntil: 5 } }, 1))
  assert.deepEqual(openApprovals(state), [])
})
