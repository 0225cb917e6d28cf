import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Event, LoggedEvent } from '../../src/core/event.ts'
import { CorralError } from '../../src/core/error.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { randomly } from '../support/random.ts'

const MACHINE = 'desk'

/** All that is in the log of an engine, without what was copied into it. */
function logOf({ log }: TestEngine): Event[] {
  return log.events({ after: 0, own: true, limit: 100_000 }).map(({ event }) => event)
}

/** What a reader of the session is told, without the numbers of the log. */
function told(engine: TestEngine, sessionId: string): unknown[] {
  const plain = ({ event }: LoggedEvent): unknown => {
    const { seq: _, ownerSeq: __, machine: ___, ...rest } = event
    return rest.type === 'approval.requested'
      ? { ...rest, approval: { ...rest.approval, machine: null } }
      : rest
  }
  return engine.log.events({ sessionId, after: 0, limit: 100_000 }).map(plain)
}

/** The session as it is shown, without the numbers of the log. */
function shown({ engine }: TestEngine, sessionId: string): unknown {
  const {
    turn: _,
    endedSeq: __,
    machine: ___,
    marks: ____,
    unsent: _____,
    ...rest
  } = engine.sessions.get(sessionId)
  return rest
}

describe('copies of sessions of another machine', () => {
  let owner: TestEngine
  let follower: TestEngine
  before(async () => {
    owner = await startEngine()
    follower = await startEngine()
    await follower.engine.copies.addMachine({ name: MACHINE, target: 'nowhere' })
  })
  after(async () => {
    await follower.stop()
    await owner.stop()
  })

  /** As one connection would, cut anywhere. */
  async function copyAll(pieces: (left: number) => number = () => 7): Promise<void> {
    const cursor = follower.engine.copies.machines()[0]!.cursor?.seq ?? 0
    const events = logOf(owner).filter(({ seq, sessionId }) => seq > cursor && sessionId !== '')
    while (events.length > 0) {
      const batch = events.splice(0, Math.max(1, pieces(events.length)))
      const at = { log: owner.log.id, seq: batch.at(-1)!.seq }
      await follower.engine.copies.add({ machine: MACHINE, cursor: at, events: batch })
    }
  }

  test('tell the same story under numbers of this log, however they are cut', async () => {
    const own = await follower.engine.sessions.create({ agent: 'demo', cwd: follower.cwd, mode: 'auto' })
    const { id } = await owner.engine.sessions.create({ agent: 'demo', cwd: owner.cwd, mode: 'auto' })
    await owner.turn(id, '[[say hello]] [[shell echo a]] [[think hm]] [[say bye]]')
    await owner.turn(id, '[[fail 529]]')
    const random = randomly(7)
    await copyAll((left) => random(left))
    await follower.turn(own.id, '[[say mine]]')
    await owner.turn(id, '[[say again]]')
    await copyAll(() => 1)
    assert.deepEqual(told(follower, id), told(owner, id))
    assert.deepEqual(shown(follower, id), shown(owner, id))
    const copy = follower.engine.sessions.get(id)
    assert.equal(copy.machine, MACHINE)
    assert.ok(copy.endedSeq! <= follower.log.head && copy.endedSeq! > 0)
    assert.equal(follower.engine.sessions.get(own.id).machine, undefined)
    assert.deepEqual(
      follower.engine.search({ text: 'again', limit: 5 }).hits.map(({ sessionId }) => sessionId),
      owner.engine.search({ text: 'again', limit: 5 }).hits.map(({ sessionId }) => sessionId),
    )
    const seqs = follower.log.events({ after: 0, limit: 100_000 }).map(({ seq }) => seq)
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(seqs).size, seqs.length)
    assert.ok(
      !logOf(follower).some(({ sessionId }) => sessionId === id),
      'who follows this log does not get copies',
    )
  })

  test('nothing is decided here, and nothing follows from them', async () => {
    const { id } = await owner.engine.sessions.create({ agent: 'demo', cwd: owner.cwd, mode: 'ask' })
    await owner.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: '[[shell ls]]' }] })
    const asked = await owner.event('approval.requested', { sessionId: id })
    await copyAll()
    const approvalId = asked.approval.id
    assert.equal(follower.engine.approvals.get(approvalId).decision, null)
    const unreachable = (error: unknown): boolean =>
      error instanceof CorralError &&
      error.code === 'machine_unreachable' &&
      error.data['machine'] === MACHINE
    await assert.rejects(
      follower.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: 'hi' }] }),
      unreachable,
    )
    await assert.rejects(
      follower.engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by: 'me' }),
      unreachable,
    )
    await assert.rejects(follower.engine.sessions.configure({ sessionId: id, title: 'x' }), unreachable)
    assert.deepEqual(
      follower.log.unfinished().filter((session) => session.machine !== undefined),
      [],
    )
    assert.ok(!follower.host.running().some(({ sessionId }) => sessionId === id))
    await owner.engine.approvals.decide({
      approvalId,
      decision: { behavior: 'deny', comment: 'no' },
      by: 'me',
    })
    await owner.event('turn.completed', { sessionId: id })
    await copyAll()
    assert.equal(follower.engine.approvals.get(approvalId).decision?.behavior, 'deny')
    assert.deepEqual(told(follower, id), told(owner, id))
  })

  test('marks and branches point to places of this log', async () => {
    const { id } = await owner.engine.sessions.create({ agent: 'demo', cwd: owner.cwd, mode: 'auto' })
    await owner.turn(id, '[[say one]]')
    const first = owner.engine.turns.list(id, 1)[0]!
    await owner.turn(id, '[[say two]]')
    await owner.engine.sessions.mark({ sessionId: id, readSeq: owner.engine.sessions.get(id).endedSeq! })
    const branch = await owner.engine.sessions.fork({ sessionId: id, turnId: first.id })
    await owner.turn(branch.id, '[[say three]]')
    await copyAll()
    const { marks, endedSeq } = follower.engine.sessions.get(id)
    assert.equal(marks!.readSeq, endedSeq)
    const parts = (engine: TestEngine): unknown[] =>
      engine.engine.sessions
        .lineage(branch.id)
        .map(({ session, until }) => [
          session.id,
          engine.log
            .events({ sessionId: session.id, after: 0, whole: true, limit: 1000 })
            .filter(({ seq }) => seq <= until).length,
        ])
    assert.deepEqual(parts(follower), parts(owner))
  })

  test('a removed machine leaves nothing, and its numbers are not given again', async () => {
    const { head } = follower.log
    const ids = follower.log.copiedFrom(MACHINE).map(({ id }) => id)
    assert.ok(ids.length > 0)
    const gone: string[] = []
    const feed = follower.engine.events.subscribe({ after: head, types: ['session.destroyed'] }, (events) => {
      for (const { sessionId } of events) gone.push(sessionId)
    })
    await follower.engine.copies.removeMachine(MACHINE)
    feed.close()
    assert.deepEqual(gone.toSorted(), ids.toSorted())
    assert.deepEqual(follower.log.copiedFrom(MACHINE), [])
    assert.deepEqual(follower.engine.copies.machines(), [])
    assert.deepEqual(follower.engine.search({ text: 'again', limit: 5 }).hits, [])
    const made = await follower.engine.sessions.create({ agent: 'demo', cwd: follower.cwd })
    const [created] = follower.log.events({ sessionId: made.id, after: 0, limit: 1 })
    assert.ok(created!.seq > head)
    await assert.rejects(follower.engine.copies.removeMachine(MACHINE), { code: 'machine_not_found' })
  })
})
