import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elapsed, relative } from '../../web/parts/relative.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('how long ago is said in few letters', () => {
  const ago = (ms: number): string => relative(NOW - ms, NOW)
  assert.deepEqual([0, 59 * SECOND].map(ago), ['now', 'now'])
  assert.deepEqual([MINUTE, 59 * MINUTE, HOUR, 23 * HOUR].map(ago), ['1m', '59m', '1h', '23h'])
  assert.deepEqual([DAY, 6 * DAY].map(ago), ['1d', '6d'])
  assert.match(ago(30 * DAY), /16/)
  assert.match(ago(400 * DAY), /2025/)
})

test('so is how far ahead', () => {
  const ahead = (ms: number): string => relative(NOW + ms, NOW)
  assert.deepEqual([30 * SECOND, 5 * MINUTE, 2 * HOUR].map(ahead), ['in <1m', 'in 5m', 'in 2h'])
})

test('how long something takes has seconds while they matter', () => {
  const times = [-5, 0, 59_999, 65_000, HOUR - 1, 2 * HOUR + 5 * MINUTE].map(elapsed)
  assert.deepEqual(times, ['0s', '0s', '59s', '1m 05s', '59m 59s', '2h 05m'])
})
