import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, decideApproval } from '../../src/core/approving.ts'
import * as decide from '../../src/core/decide.ts'
import { CorralError } from '../../src/core/error.ts'
import type { AgentOutput, EventBody } from '../../src/core/event.ts'
import { openApprovals, tierOf, type Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { randomly } from '../support/random.ts'
import { after, aQuestion, AROUND, aSession, running } from '../support/session.ts'

const message = { sessionId: 's1', input: [] }
const ended = (outcome: 'completed' | 'failed' | 'interrupted'): AgentOutput & { type: 'turn.ended' } => ({
  type: 'turn.ended',
  outcome,
  usage: NO_USAGE,
  error: outcome === 'failed' ? { code: 'model_error', message: 'no' } : null,
  text: null,
})
const exit = { code: 1, signal: null, stderr: 'why\nbecause\n', expected: false }
const types = (bodies: EventBody[]): string[] => bodies.map((body) => body.type)

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
  assert.deepEqual(decide.advance(resumed), [
    { type: 'turn.started', turnId: 't1', agent: 'demo', mode: 'ask', model: null },
  ])
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
  state = after(state, decide.absorb(state, { type: 'mode.observed', mode: 'plan' }, AROUND))
  assert.equal(state.mode, 'plan')
  state = after(state, decide.absorb(state, { type: 'mode.observed', mode: 'ask' }, AROUND))
  assert.equal(state.mode, 'auto')
  assert.deepEqual(
    decide.absorb(state, { type: 'mode.observed', mode: 'ask' }, AROUND),
    [],
    'auto looks like ask to an agent',
  )
})

test('a plan that a human has set is left by an agreement in the same turn, and not for auto', () => {
  const moves = (state: Session, mode: 'code' | 'auto' | null) =>
    decide.absorb(state, { type: 'mode.observed', mode }, AROUND)
  let state = running({ mode: 'plan' })
  for (const mode of ['code', 'auto', null] as const)
    assert.deepEqual(types(moves(state, mode)), ['agent.notice'])
  const plan = aQuestion('p', { kind: 'plan' })
  state = after(state, decide.absorb(state, { type: 'approval.asked', approval: plan }, AROUND))
  assert.equal(after(state, moves(state, 'code')).mode, 'plan', 'nobody has agreed yet')
  state = after(state, decideApproval(state, 's1.1', { behavior: 'allow' }, 'me', AROUND))
  for (const [mode, now] of [
    ['code', 'code'],
    ['auto', 'code'],
    [null, 'ask'],
  ] as const)
    assert.equal(after(state, moves(state, mode)).mode, now)
  const again = after(state, [{ type: 'session.changed', mode: 'plan' }])
  assert.equal(after(again, moves(again, 'code')).mode, 'plan', 'a new plan needs a new agreement')
  const next = { ...state, turn: { ...state.turn!, id: 't2' } }
  assert.equal(after(next, moves(next, 'code')).mode, 'plan')
})

test('the end of another turn does not end the one that runs', () => {
  assert.deepEqual(decide.absorb(running(), { ...ended('completed'), turnId: 't0' }, AROUND), [])
  const own = decide.absorb(running(), { ...ended('completed'), turnId: 't1' }, AROUND)
  assert.deepEqual(types(own), ['turn.completed'])
})

const refused = (code: string) => (error: unknown) => error instanceof CorralError && error.code === code

function steered(state: Session, ...ids: string[]): Session {
  return ids.reduce((now, id) => after(now, decide.steer(now, id, message, 10)), state)
}

test('a turn that runs can be steered; without one, or while it is being stopped, it cannot', () => {
  assert.deepEqual(decide.steer(running(), 'x1', message, 10), [
    { type: 'turn.steered', turnId: 't1', steerId: 'x1', input: [], key: null, origin: null },
  ])
  assert.throws(() => decide.steer(aSession(), 'x1', message, 10), refused('not_running'))
  const stopping = after(running(), decide.interrupt(running(), false))
  assert.throws(() => decide.steer(stopping, 'x1', message, 10), refused('not_running'))
  assert.throws(() => decide.steer(steered(running(), 'x1', 'x2'), 'x3', message, 2), refused('queue_full'))
})

test('a steer that the agent takes is part of the turn, once, with what was said', () => {
  const state = steered(running(), 'x1')
  const bodies = decide.absorb(state, { type: 'steer.taken', steerId: 'x1' }, AROUND)
  assert.deepEqual(bodies, [
    { type: 'turn.steer_accepted', turnId: 't1', steerId: 'x1', input: [], origin: null },
  ])
  const taken = after(state, bodies)
  assert.deepEqual(taken.steers, [])
  assert.deepEqual(decide.absorb(taken, { type: 'steer.taken', steerId: 'x1' }, AROUND), [])
})

test('steers that a turn ends without: the first is the next turn, before all that wait, the others are for it', () => {
  let state = steered(running(), 'x1', 'x2')
  state = after(state, decide.send(state, 't2', message, 10))
  state = after(state, decide.absorb(state, ended('completed'), AROUND))
  state = after(state, decide.promote(state))
  assert.deepEqual([state.queue, state.steers.map(({ id }) => id)], [['x1', 't2'], ['x2']])
  state = after(state, decide.advance(state))
  assert.equal(state.turn?.id, 'x1')
  state = after(state, decide.absorb(state, { type: 'steer.taken', steerId: 'x2' }, AROUND))
  assert.deepEqual(state.steers, [])
})

test('clearing the queue takes back what the agent has not taken, and so does the end of the session', () => {
  const state = steered(running(), 'x1')
  assert.deepEqual(types(decide.interrupt(state, true)), [
    'turn.queued',
    'turn.cancelled',
    'turn.interrupting',
  ])
  assert.deepEqual(types(decide.destroy(state)).slice(0, 2), ['turn.queued', 'turn.cancelled'])
})

test('what an agent begins by itself is running, also in a session that was paused in that moment', () => {
  let state = steered(running(), 'x1')
  state = after(state, [
    ...decide.setPaused(state, true),
    ...decide.absorb(state, ended('completed'), AROUND),
  ])
  state = after(state, decide.promote(state))
  assert.deepEqual([state.turn, state.queue], [null, ['x1']])
  const bodies = decide.absorb(state, { type: 'turn.accepted', turnId: 'x1' }, AROUND)
  assert.deepEqual(types(bodies), ['turn.started', 'turn.accepted'])
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
    const unanswered = new Set<string>()
    const steers = new Set<string>()
    for (let step = 0; step < 60 && !state.destroyed; step++) {
      const said = possible(state, next, `w${walk}-${step}`)
      const bodies = [...said, ...decide.promote(after(state, said))]
      const moved = after(state, bodies)
      const all = [...bodies, ...decide.advance(moved)]
      accepted.push(...all.flatMap((b) => (b.type === 'turn.queued' && !b.late ? [b.turnId] : [])))
      for (const body of all) {
        if (body.type === 'turn.steered') steers.add(body.steerId)
        const done = body.type === 'turn.queued' && body.late ? body.turnId : null
        const id = body.type === 'turn.steer_accepted' ? body.steerId : done
        if (id !== null) assert.ok(steers.delete(id), 'a steer is taken or queued, once')
      }
      startedOrder.push(...all.flatMap((b) => (b.type === 'turn.started' ? [b.turnId] : [])))
      for (const body of all) {
        if (body.type === 'approval.requested') unanswered.add(body.approval.id)
        if (body.type === 'approval.resolved') unanswered.delete(body.approvalId)
      }
      state = after(moved, all.slice(bodies.length))
      assert.deepEqual(
        openApprovals(state).map(({ id: approvalId }) => approvalId),
        [...unanswered],
        'every question is open until it is resolved',
      )
      assert.deepEqual(
        state.steers.map(({ id }) => id),
        [...steers],
        'every steer is kept until the agent has it',
      )
      if (state.steers.length > 0) assert.ok(state.turn ?? state.queue[0], 'a steer has a turn to go to')
      assert.ok(!state.turn || !state.queue.includes(state.turn.id), 'a running turn does not wait')
      const inside = openApprovals(state).filter((approval) => !approval.external)
      if (!state.turn) assert.equal(inside.length, 0, 'an agent asks nothing outside a turn')
      if (!state.turn && !state.paused && !state.destroyed)
        assert.equal(state.queue.length, 0, 'nothing waits for nothing')
      assert.equal(tierOf(state) === 'active', state.turn !== null)
    }
    assert.deepEqual(
      startedOrder.filter((id) => accepted.includes(id)),
      accepted.filter((id) => startedOrder.includes(id)),
      'first in, first out',
    )
    assert.equal(new Set(startedOrder).size, startedOrder.length, 'no turn starts twice')
  }
})

/** One thing that may happen next. */
function possible(state: Session, next: (below: number) => number, id: string): EventBody[] {
  try {
    switch (next(15)) {
      case 0:
      case 1:
      case 2:
        return decide.send(state, id, message, 5)
      case 3:
        return state.turn
          ? decide.absorb(state, ended((['completed', 'failed', 'interrupted'] as const)[next(3)]!), AROUND)
          : []
      case 4:
        return state.turn
          ? decide.absorb(state, { type: 'approval.asked', approval: aQuestion(id) }, AROUND)
          : []
      case 5:
        return decide.interrupt(state, next(2) === 0)
      case 6:
        return decide.setPaused(state, next(2) === 0)
      case 7:
        return decide.exited(state, 'r1', { ...exit, expected: next(3) === 0 }, 'Agent')
      case 8: {
        const open = openApprovals(state)[0]
        return open ? decideApproval(state, open.id, { behavior: 'allow' }, 'me', AROUND) : []
      }
      case 9:
        return ask(state, aQuestion(id), AROUND, { external: true })
      case 10:
      case 11:
        return decide.steer(state, id, message, 5)
      case 12: {
        const steerId = state.steers[next(Math.max(1, state.steers.length))]?.id ?? 'nobody'
        return decide.absorb(state, { type: 'steer.taken', steerId }, AROUND)
      }
      case 13:
        return decide.cancelTurn(state, state.queue[next(2)] ?? 'nobody')
      default:
        return next(20) === 0 ? decide.destroy(state) : []
    }
  } catch (error) {
    assert.ok(error instanceof CorralError)
    return []
  }
}

function waiting(...ids: string[]): Session {
  return ids.reduce((now, id) => after(now, decide.send(now, id, message, 100)), running())
}

test('a message is moved within the queue, and stays in it once', () => {
  const state = waiting('a', 'b', 'c', 'd')
  const moved = (id: string, to: number): string =>
    after(state, decide.moveTurn(state, id, to)).queue.join('')
  assert.deepEqual(
    [moved('c', 1), moved('a', 4), moved('a', 99), moved('d', 2), moved('b', 2)],
    ['cabd', 'bcda', 'bcda', 'adbc', 'abcd'],
  )
  assert.deepEqual(decide.moveTurn(state, 'b', 2), [], 'where it is already')
  assert.throws(() => decide.moveTurn(state, 't1', 1), refused('turn_not_found'), 'it runs')
  assert.throws(() => decide.moveTurn(state, 'x', 1), refused('turn_not_found'))
})

test('what a turn ended without stays together at the head of the queue', () => {
  const paused = after(steered(waiting('a', 'b'), 'x1', 'x2'), [{ type: 'session.changed', paused: true }])
  const ending = after(paused, decide.absorb(paused, ended('completed'), AROUND))
  const state = after(ending, decide.promote(ending))
  assert.deepEqual([state.queue, state.steers.map(({ id }) => id)], [['x1', 'a', 'b'], ['x2']])
  assert.throws(() => decide.moveTurn(state, 'x1', 3), refused('invalid'))
  assert.deepEqual(after(state, decide.moveTurn(state, 'b', 1)).queue, ['x1', 'b', 'a'])
})

test('a steer that its agent begins by itself begins, wherever it was moved to', () => {
  const paused = after(steered(waiting('a'), 'x1'), [{ type: 'session.changed', paused: true }])
  const ending = after(paused, decide.absorb(paused, ended('completed'), AROUND))
  const late = after(ending, decide.promote(ending))
  const moved = after(late, decide.moveTurn(late, 'x1', 2))
  const begun = after(moved, decide.absorb(moved, { type: 'turn.accepted', turnId: 'x1' }, AROUND))
  assert.deepEqual([begun.turn?.id, begun.queue], ['x1', ['a']])
})

test('whatever is sent, moved, taken out and run, in any order: every message is somewhere, and nowhere twice', () => {
  const random = randomly(17)
  for (let round = 0; round < 100; round++) {
    let state = running()
    const sent = new Set<string>()
    const over = new Set<string>()
    for (let step = 0; step < 40; step++) {
      const some = state.queue[random(Math.max(state.queue.length, 1))] ?? 'nobody'
      const wishes: (() => EventBody[])[] = [
        () => {
          const id = `m${step}`
          const bodies = decide.send(state, id, message, 8)
          sent.add(id)
          return bodies
        },
        () => decide.moveTurn(state, some, 1 + random(10)),
        () => {
          const bodies = decide.cancelTurn(state, some)
          over.add(some)
          return bodies
        },
        () => {
          if (state.turn) over.add(state.turn.id)
          return [...decide.absorb(state, ended('completed'), AROUND)]
        },
        () => decide.advance(state),
      ]
      try {
        state = after(state, wishes[random(wishes.length)]!())
      } catch (error) {
        assert.ok(error instanceof CorralError, String(error))
      }
      const here = [...state.queue, ...(state.turn ? [state.turn.id] : [])]
      assert.equal(new Set(here).size, here.length)
      for (const id of sent) assert.equal(here.includes(id), !over.has(id), `${id} in round ${round}`)
    }
  }
})
