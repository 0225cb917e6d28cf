import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byTightness, leftPercent, quotaTone, windowName, type QuotaWindow } from '../../web/state/quota.ts'

const HOUR = 60 * 60 * 1000
const window = (name: string, usedPercent: number, lengthMs: number | null = null): QuotaWindow => ({
  name,
  usedPercent,
  lengthMs,
  resetsAt: null,
})

test('windows are named by their length and what is special about them', () => {
  assert.equal(windowName(window('five_hour', 1, 5 * HOUR)), '5 hours')
  assert.equal(windowName(window('seven_day_opus', 1, 7 * 24 * HOUR)), '7 days, opus')
  assert.equal(windowName(window('primary', 1, 24 * HOUR)), '1 day')
  assert.equal(windowName(window('credits_left', 1)), 'credits left')
  assert.equal(windowName(window('primary', 1)), 'primary')
})

test('the window that binds comes first, and says how near its end is', () => {
  const list = byTightness([window('a', 10), window('b', 96), window('c', 80)])
  assert.deepEqual(list.map(quotaTone), ['bad', 'needs', 'good'])
  assert.deepEqual([window('a', 103), window('b', 12.4)].map(leftPercent), [0, 88])
})
