import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, decideApproval } from '../../src/core/approving.ts'
import * as decide from '../../src/core/decide.ts'
import { CorralError } from '../../src/core/error.ts'
import type { AgentOutput, EventBody } from '../../src/core/event.ts'
import { openApprovals, tierOf, type Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { after, aQuestion, AROUND, aSession, running } from '../support/session.ts'

const message = { sessionId: 's1', input: [] }
const ended = (outcome: 'completed' | 'failed' | 'interrupted'): AgentOutput => ({
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
  assert.deepEqual(decide.advance(resumed), [{ type: 'turn.started', turnId: 't1' }])
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
    for (let step = 0; step < 60 && !state.destroyed; step++) {
      const bodies = [...possible(state, next, `w${walk}-${step}`)]
      const moved = after(state, bodies)
      const all = [...bodies, ...decide.advance(moved)]
      accepted.push(...all.flatMap((b) => (b.type === 'turn.queued' ? [b.turnId] : [])))
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
      assert.ok(!state.turn || !state.queue.includes(state.turn.id), 'a running turn does not wait')
      const inside = openApprovals(state).filter((approval) => !approval.external)
      if (!state.turn) assert.equal(inside.length, 0, 'an agent asks nothing outside a turn')
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
    switch (next(11)) {
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
      default:
        return next(20) === 0 ? decide.destroy(state) : []
    }
  } catch (error) {
    assert.ok(error instanceof CorralError)
    return []
  }
}
