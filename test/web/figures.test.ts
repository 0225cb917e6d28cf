import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytes, count, plural, usd } from '../../web/state/figures.ts'
import { byDay, chartData, filled, totalOf } from '../../web/state/series.ts'

const HOUR = 60 * 60 * 1000

test('figures are short', () => {
  assert.deepEqual([0, 812, 1400, 23_000_000_000, 999_999].map(bytes), [
    '0 B',
    '812 B',
    '1.4 kB',
    '23 GB',
    '1000 kB',
  ])
  assert.deepEqual([7, 950, 1234, 34_000, 999_600, 5_600_000].map(count), [
    '7',
    '950',
    '1.2k',
    '34k',
    '1.0M',
    '5.6M',
  ])
  assert.deepEqual([0, 0.001, 0.42, 128.4, 12_345].map(usd), ['$0', '<$0.01', '$0.42', '$128', '$12,345'])
  assert.deepEqual(
    [plural(1, 'file'), plural(2000, 'file'), plural(2, 'entry', 'entries')],
    ['1 file', '2,000 files', '2 entries'],
  )
})

test('points become lines of a chart, in the order of time', () => {
  const points = [
    { at: 2000, a: 2, b: null },
    { at: 1000, a: 1, b: 5 },
  ]
  assert.deepEqual(chartData(points, [({ a }) => a, ({ b }) => b]), [
    [1, 2],
    [1, 2],
    [5, null],
  ])
})

test('hours and days without anything are there, too', () => {
  const nothing = (at: number) => ({ at, n: 0 })
  const hours = filled([{ at: 2 * HOUR, n: 7 }], { since: HOUR + 5, until: 3 * HOUR, by: 'hour' }, nothing)
  assert.deepEqual(hours, [
    { at: HOUR, n: 0 },
    { at: 2 * HOUR, n: 7 },
    { at: 3 * HOUR, n: 0 },
  ])
  const since = new Date(2026, 2, 28, 15).getTime()
  const days = filled([], { since, until: new Date(2026, 2, 30, 1).getTime(), by: 'day' }, nothing)
  assert.deepEqual(
    days.map(({ at }) => new Date(at).getDate()),
    [28, 29, 30],
  )
})

test('hours are summed by the days of the browser', () => {
  const noon = new Date(2026, 4, 3, 12).getTime()
  const hours = [
    { at: noon, n: 1 },
    { at: noon + HOUR, n: 2 },
    { at: noon + 24 * HOUR, n: 4 },
  ]
  const days = byDay(hours, (one, other) => ({ at: one.at, n: one.n + other.n }))
  assert.deepEqual(
    days.map(({ n }) => n),
    [3, 4],
  )
  assert.equal(days[0]!.at, new Date(2026, 4, 3).getTime())
  assert.equal(
    totalOf(days, ({ n }) => n),
    7,
  )
})
