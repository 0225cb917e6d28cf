import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { FOR_EVER, NO_RULES } from '../../src/core/rule.ts'
import { statusOf } from '../../src/core/session.ts'
import { allow, answerTo, ask, eventsOf, newSession, resolved, statusesOf } from '../support/asking.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { until } from '../support/wait.ts'

let t: TestEngine
afterEach(async () => {
  letTimeRun()
  await t.stop()
})

const SOON_MS = 100
const HOUR_MS = 3_600_000

/** The engine's clock. Tests stop it while they prepare what falls due: on a slow machine it would be due before it is to. */
let stoppedAt: number | null = null
let aheadMs = 0
const clock = { now: () => stoppedAt ?? Date.now() + aheadMs }

function stopTime(at = clock.now()): number {
  stoppedAt = at
  return at
}

function letTimeRun(): void {
  if (stoppedAt !== null) aheadMs = Math.max(0, stoppedAt - Date.now())
  stoppedAt = null
}

/** The daemon goes down without a word and the next one takes over. */
async function restart(): Promise<void> {
  await t.abandon()
  t = await startEngine({ home: t.home, clock })
}

/** The clock is read more than once. */
function near(actual: number | null, wanted: number): void {
  assert.ok(actual !== null && Math.abs(actual - wanted) < 60_000, `${actual} is not about ${wanted}`)
}

/** The next thing that this session does about time. */
async function expiryOf(sessionId: string) {
  for (let after = 0; ;) {
    const event = await t.event('session.changed', { sessionId, after })
    if (event.reason === 'expired') return event
    after = event.seq
  }
}

function expiries(sessionId: string): number {
  return eventsOf(t, sessionId, 'session.changed').filter(({ reason }) => reason === 'expired').length
}

test('what nobody answers is refused when its time is up, not before, and only once', async () => {
  t = await startEngine()
  const id = await newSession(t)
  const patient = await ask(t, id)
  const asked = await ask(t, id, { timeoutMs: SOON_MS })
  assert.ok(asked.timeoutAt! <= asked.requestedAt + SOON_MS)
  assert.equal(await resolved(t, asked), 'deny by timeout')
  const { decidedAt } = t.engine.approvals.get(asked.id)
  assert.ok(decidedAt! >= asked.timeoutAt!)
  assert.equal(answerTo(t, patient.id), 'open', 'without a time it waits')
  assert.equal(patient.timeoutAt, null)
  assert.deepEqual(statusesOf(t, id), ['waiting'])
  await assert.rejects(allow(t, asked.id), { code: 'approval_resolved' })
  assert.deepEqual(t.warnings, [])
})

test('what is answered in time stays answered', async () => {
  t = await startEngine({ clock })
  stopTime()
  const id = await newSession(t)
  const asked = await ask(t, id, { timeoutMs: SOON_MS })
  const next = await ask(t, id, { timeoutMs: 2 * SOON_MS })
  await allow(t, asked.id)
  letTimeRun()
  assert.equal(await resolved(t, next), 'deny by timeout')
  assert.equal(answerTo(t, asked.id), 'allow by me')
  assert.equal(eventsOf(t, id, 'approval.resolved').length, 2)
})

test('the configuration, the session and the question say how long, the last one to speak wins', async () => {
  t = await startEngine({ approvalTimeoutMs: HOUR_MS })
  const wait = async (sessionId: string, timeoutMs?: number | null): Promise<number | null> => {
    const given = timeoutMs === undefined ? {} : { timeoutMs }
    const { timeoutAt, requestedAt } = await ask(t, sessionId, given)
    return timeoutAt === null ? null : timeoutAt - requestedAt
  }
  const plain = await newSession(t)
  const own = await newSession(t, { settings: { approvalTimeoutMs: 2 * HOUR_MS } })
  near(await wait(plain), HOUR_MS)
  near(await wait(own), 2 * HOUR_MS)
  near(await wait(own, 3 * HOUR_MS), 3 * HOUR_MS)
  assert.equal(await wait(own, null), null)
})

test("an agent's own question falls due too, and the agent hears of it", async () => {
  t = await startEngine({ approvalTimeoutMs: SOON_MS })
  const id = await newSession(t)
  const events = await t.turn(id, '[[shell ls]]')
  const answer = events.find((event) => event.type === 'approval.resolved')
  assert.deepEqual([answer?.by, answer?.decision.behavior], ['timeout', 'deny'])
  const result = events.find((event) => event.type === 'tool.completed')
  assert.deepEqual([result?.isError, result?.output], [true, 'Nobody answered in time.'])
  assert.deepEqual(statusesOf(t, id), ['running', 'waiting', 'running', 'idle'])
})

test('a time goes on over a restart: it ends when it should, or at once if it has ended meanwhile', async () => {
  t = await startEngine({ clock })
  stopTime()
  const id = await newSession(t)
  const meanwhile = await ask(t, id, { timeoutMs: SOON_MS })
  const later = await ask(t, id, { timeoutMs: 3 * SOON_MS })
  await t.abandon()
  const back = stopTime(meanwhile.timeoutAt! + SOON_MS)
  t = await startEngine({ home: t.home, clock })
  assert.equal(await resolved(t, meanwhile), 'deny by timeout')
  assert.equal(t.engine.approvals.get(meanwhile.id).decidedAt, back, 'by the next daemon')
  assert.equal(answerTo(t, later.id), 'open')
  letTimeRun()
  assert.equal(await resolved(t, later), 'deny by timeout')
  assert.ok(t.engine.approvals.get(later.id).decidedAt! >= later.timeoutAt!)
  assert.deepEqual(statusesOf(t, id), ['waiting', 'idle'])
  assert.equal(eventsOf(t, id, 'approval.resolved').length, 2)
})

test("an agent's question that fell due while the daemon was away is refused and the turn goes on", async () => {
  t = await startEngine({ clock })
  stopTime()
  const id = await newSession(t, { settings: { approvalTimeoutMs: SOON_MS } })
  const { seq } = await t.engine.turns.send({
    sessionId: id,
    input: [{ type: 'text', text: '[[shell ls]]' }],
  })
  const { approval } = await t.event('approval.requested', { sessionId: id, after: seq })
  const { timeoutAt } = t.engine.approvals.get(approval.id)
  await t.abandon()
  stopTime(timeoutAt!)
  t = await startEngine({ home: t.home, clock })
  await t.event('turn.completed', { sessionId: id, after: seq })
  assert.equal(answerTo(t, approval.id), 'deny by timeout')
  assert.equal(eventsOf(t, id, 'tool.completed')[0]?.isError, true)
})

test('a time of skipping ends with one event that says why, and then people are asked again', async () => {
  t = await startEngine({ clock })
  const skipUntil = stopTime() + SOON_MS
  const id = await newSession(t)
  await t.engine.sessions.configure({ sessionId: id, rules: { skipUntil, allow: ['Write'] } })
  assert.equal(answerTo(t, (await ask(t, id)).id), 'allow by rule')
  letTimeRun()
  const expired = await expiryOf(id)
  assert.ok(expired.at >= skipUntil)
  assert.deepEqual(expired.rules, { ...NO_RULES, allow: ['Write'] })
  assert.deepEqual(t.engine.sessions.get(id).rules, { ...NO_RULES, allow: ['Write'] })
  const asked = await ask(t, id, { timeoutMs: SOON_MS })
  assert.equal(await resolved(t, asked), 'deny by timeout', 'another alarm of the same session')
  assert.equal(expiries(id), 1)
})

test('a time of skipping that is made longer, shorter, or ended by hand ends when it was last said to', async () => {
  t = await startEngine({ clock })
  const skip = (sessionId: string, skipUntil: number | null) =>
    t.engine.sessions.configure({ sessionId, rules: { skipUntil } })
  const now = stopTime()
  const [longer, shorter, ended, lasting] = await Promise.all([1, 2, 3, 4].map(() => newSession(t)))
  await skip(longer!, now + SOON_MS)
  await skip(longer!, now + 5 * SOON_MS)
  await skip(shorter!, now + HOUR_MS)
  await skip(shorter!, now + SOON_MS)
  await skip(ended!, now + SOON_MS)
  await skip(ended!, null)
  await skip(lasting!, FOR_EVER)
  const made = await newSession(t, { rules: { ...NO_RULES, skipUntil: now + SOON_MS } })
  const { id: fork } = await t.engine.sessions.fork({ sessionId: made })
  letTimeRun()
  await Promise.all([shorter!, made, fork].map(expiryOf))
  assert.ok((await expiryOf(longer!)).at >= now + 5 * SOON_MS)
  assert.deepEqual([longer!, shorter!, made, fork, ended!, lasting!].map(expiries), [1, 1, 1, 1, 0, 0])
  assert.equal(answerTo(t, (await ask(t, lasting!)).id), 'allow by rule')
})

test('a time of skipping ends over a restart as well, once, also when it ended while the daemon was away', async () => {
  t = await startEngine({ clock })
  const skipUntil = stopTime() + SOON_MS
  const created = await newSession(t, { rules: { ...NO_RULES, skipUntil } })
  const later = await newSession(t, { rules: { ...NO_RULES, skipUntil: skipUntil + SOON_MS } })
  const fork = await t.engine.sessions.fork({ sessionId: created })
  await t.abandon()
  stopTime(skipUntil)
  t = await startEngine({ home: t.home, clock })
  await expiryOf(created)
  await expiryOf(fork.id)
  assert.equal(expiries(later), 0)
  letTimeRun()
  assert.ok((await expiryOf(later)).at >= skipUntil + SOON_MS)
  await restart()
  assert.deepEqual(t.log.due(), [])
  assert.deepEqual([created, fork.id, later].map(expiries), [1, 1, 1])
})

test('what falls due while the log cannot be written is tried again, without haste, until it can', async () => {
  t = await startEngine({ clock })
  stopTime()
  const id = await newSession(t)
  const asked = await ask(t, id, { timeoutMs: SOON_MS })
  const db = new DatabaseSync(join(t.home, 'corral.db'), { timeout: 5000 })
  try {
    db.exec(`CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'the disk is full'); END`)
    letTimeRun()
    await until(() => t.warnings.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 500))
    const hasty = t.warnings.length > 20
    assert.equal(answerTo(t, asked.id), 'open')
    db.exec('DROP TRIGGER full')
    assert.equal(await resolved(t, asked), 'deny by timeout')
    assert.ok(!hasty, `${t.warnings.length} attempts within half a second`)
  } finally {
    db.close()
  }
})

test('a destroyed session has nothing that falls due', async () => {
  t = await startEngine()
  const id = await newSession(t, { rules: { ...NO_RULES, skipUntil: Date.now() + HOUR_MS } })
  await ask(t, id, { kind: 'question', timeoutMs: HOUR_MS })
  assert.equal(t.log.due().length, 1)
  await t.engine.sessions.destroy(id)
  assert.deepEqual(t.log.due(), [])
})

test('a session that waits for an answer still does after a restart', async () => {
  t = await startEngine()
  const id = await newSession(t)
  const asked = await ask(t, id)
  await restart()
  assert.equal(statusOf(t.engine.sessions.get(id)), 'waiting')
  await allow(t, asked.id)
  assert.deepEqual(statusesOf(t, id), ['waiting', 'idle'])
})
