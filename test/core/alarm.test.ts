import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { createAlarms, type Alarms } from '../../src/core/alarm.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let rung: string[]
let alarms: Alarms
beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 })
  rung = []
  alarms = createAlarms(Date.now, (sessionId) => rung.push(sessionId))
})
afterEach(() => {
  alarms.stop()
  mock.timers.reset()
})

test('each rings once, when it is due, in whatever order they were set', () => {
  alarms.set('late', 1030)
  alarms.set('soon', 1010)
  alarms.set('also late', 1030)
  mock.timers.tick(9)
  assert.deepEqual(rung, [])
  mock.timers.tick(1)
  assert.deepEqual(rung, ['soon'])
  mock.timers.tick(100)
  assert.deepEqual(rung, ['soon', 'late', 'also late'])
})

test('the last time that was set is the one that counts', () => {
  alarms.set('later', 1010)
  alarms.set('later', 1050)
  alarms.set('sooner', 1050)
  alarms.set('sooner', 1010)
  mock.timers.tick(20)
  assert.deepEqual(rung, ['sooner'])
  mock.timers.tick(30)
  assert.deepEqual(rung, ['sooner', 'later'])
})

test('what is due already rings, but not while it is being set', () => {
  alarms.set('past', 1)
  assert.deepEqual(rung, [])
  mock.timers.tick(1)
  assert.deepEqual(rung, ['past'])
})

test('what rings may set the next alarm of the same session', () => {
  const again = createAlarms(Date.now, (sessionId) => {
    rung.push(sessionId)
    if (rung.length < 3) again.set(sessionId, Date.now() + 10)
  })
  again.set('a', 1010)
  for (let i = 0; i < 5; i++) mock.timers.tick(10)
  assert.deepEqual(rung, ['a', 'a', 'a'])
})

test('a clock that is set forward, or that goes on while the machine sleeps, is noticed', () => {
  let ahead = 0
  const jumping = createAlarms(
    () => Date.now() + ahead,
    (sessionId) => rung.push(sessionId),
  )
  jumping.set('in an hour', 1000 + 60 * 60 * 1000)
  jumping.set('in two', 1000 + 2 * 60 * 60 * 1000)
  mock.timers.tick(60_000)
  assert.deepEqual(rung, [])
  ahead = 60 * 60 * 1000
  mock.timers.tick(60_000)
  assert.deepEqual(rung, ['in an hour'])
  ahead = -60 * 60 * 1000
  mock.timers.tick(2 * 60 * 60 * 1000)
  assert.deepEqual(rung, ['in an hour'])
  mock.timers.tick(60 * 60 * 1000)
  assert.deepEqual(rung, ['in an hour', 'in two'])
  jumping.stop()
})

test('no time is too long for a timer', () => {
  alarms.set('far', 1000 + 100 * DAY_MS)
  for (let day = 0; day < 99; day++) mock.timers.tick(DAY_MS)
  assert.deepEqual(rung, [])
  mock.timers.tick(DAY_MS)
  assert.deepEqual(rung, ['far'])
})

test('stopped, nothing rings', () => {
  alarms.set('a', 1010)
  alarms.stop()
  mock.timers.tick(100)
  assert.deepEqual(rung, [])
})

test('a hundred thousand alarms are set and all ring', () => {
  for (let i = 0; i < 100_000; i++) alarms.set(`s${i}`, 2000 + (i % 7))
  mock.timers.tick(2000)
  assert.equal(new Set(rung).size, 100_000)
})
