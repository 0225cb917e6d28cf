import assert from 'node:assert/strict'
import { test } from 'node:test'
import { laterThan, whenBack } from '../../web/state/snooze.ts'

const at = (day: number, hour: number): number => new Date(2026, 10, day, hour, 30).getTime()
const morning = (day: number): number => new Date(2026, 10, day, 9).getTime()

test('Later is in an hour, tomorrow at nine or on Monday at nine', () => {
  // 2026-11-18 is a Wednesday.
  const now = at(18, 14)
  assert.deepEqual(
    laterThan(now).map(({ key, at: then }) => [key, then]),
    [
      ['hour', now + 3_600_000],
      ['tomorrow', morning(19)],
      ['monday', morning(23)],
    ],
  )
})

test('On a Monday, Monday is the next one; on a Sunday it is tomorrow and not offered twice', () => {
  assert.equal(laterThan(at(23, 8)).at(-1)?.at, morning(30))
  assert.deepEqual(
    laterThan(at(22, 8)).map(({ key }) => key),
    ['hour', 'tomorrow'],
  )
})

test('Tomorrow at nine is nine by the clock, also when the clocks change', () => {
  for (let day = 1; day <= 365; day++) {
    const now = new Date(2026, 0, day, 23, 59).getTime()
    for (const { key, at: then } of laterThan(now)) {
      if (key !== 'hour') assert.equal(new Date(then).getHours(), 9)
      assert.ok(then > now)
    }
  }
})

test('When something comes back is said as shortly as it is clear', () => {
  const now = at(18, 14)
  assert.match(whenBack(at(18, 16), now), /^(16|4):30/)
  assert.match(whenBack(morning(19), now), /^tomorrow 9:00/)
  assert.match(whenBack(morning(23), now), /^Mon 9:00/)
  assert.match(whenBack(morning(30), now), /30/)
})
