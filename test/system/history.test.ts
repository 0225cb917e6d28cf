import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { keepHistory, openHistory } from '../../src/system/history.ts'
import type { Sample } from '../../src/system/resources.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1)

const sampleAt = (at: number): Sample => ({
  at,
  totalBytes: 8e9,
  usedBytes: 4e9,
  daemonBytes: 1e8,
  agentsBytes: 2e8,
  active: 1,
  warm: 2,
  cold: 3,
})

function place(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'corral-history-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: string[] = []
  const warn = (message: string): void => void warnings.push(message)
  return { dir, path: join(dir, 'history'), warnings, warn }
}

const minutes = (samples: Sample[]): number[] => samples.map(({ at }) => (at - START) / MINUTE)

test('of what was looked at, only the numbers are kept', (t) => {
  const { path, warn } = place(t)
  const history = openHistory(path, warn, () => START + MINUTE)
  const seen = { ...sampleAt(START), sessions: [{ sessionId: 'one' }] }
  history.add(seen)
  assert.deepEqual(history.newest(1), [sampleAt(START)])
})

test('the newest come first, also after a restart, and never more than were asked for', (t) => {
  const { path, warn, warnings } = place(t)
  const now = (): number => START + 10 * MINUTE
  const history = openHistory(path, warn, now)
  assert.deepEqual(history.newest(60), [])
  for (let minute = 1; minute <= 5; minute += 1) history.add(sampleAt(START + minute * MINUTE))
  for (const one of [history, openHistory(path, warn, now)]) {
    assert.deepEqual(minutes(one.newest(60)), [5, 4, 3, 2, 1])
    assert.deepEqual(minutes(one.newest(2)), [5, 4])
    assert.deepEqual(minutes(one.newest(0)), [5])
    assert.deepEqual(minutes(one.newest(Number.NaN)), [5])
    assert.deepEqual(one.newest(1), [sampleAt(START + 5 * MINUTE)])
  }
  assert.deepEqual(warnings, [])
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a day is kept in memory, two at the most in the file, and older minutes are not read again', (t) => {
  const { path, warn } = place(t)
  const history = openHistory(path, warn, () => START)
  const last = 5000
  let longest = 0
  for (let minute = 1; minute <= last; minute += 1) {
    history.add(sampleAt(START + minute * MINUTE))
    if (minute % 360 === 0) longest = Math.max(longest, readFileSync(path, 'utf8').split('\n').length)
  }
  assert.equal(history.newest(9999).length, 1440)
  assert.ok(longest <= 2881, `${longest} lines`)
  const later = openHistory(path, warn, () => START + (last + 720) * MINUTE)
  assert.equal(later.newest(1440).length, 720)
  assert.equal(minutes(later.newest(1))[0], last)
})

test('what a crash has left of a line costs that line only', (t) => {
  const { path, warn } = place(t)
  const now = (): number => START + 10 * MINUTE
  openHistory(path, warn, now).add(sampleAt(START + MINUTE))
  appendFileSync(path, '[1767225720000,8000')
  const second = openHistory(path, warn, now)
  second.add(sampleAt(START + 3 * MINUTE))
  second.add(sampleAt(START + 4 * MINUTE))
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"not":"ours"}\n["a",1,2,3,4,5,6,7]\n`)
  assert.deepEqual(minutes(openHistory(path, warn, now).newest(10)), [4, 3, 1])
})

test('a disk that takes nothing is a warning; memory goes on, and the file is whole again later', (t) => {
  const { dir, warn, warnings } = place(t)
  const folder = join(dir, 'not-there-yet')
  const path = join(folder, 'history')
  const history = openHistory(path, warn, () => START)
  history.add(sampleAt(START + MINUTE))
  assert.equal(history.newest(5).length, 1)
  assert.deepEqual(warnings, ['writing down what is used'])
  mkdirSync(folder)
  history.add(sampleAt(START + 2 * MINUTE))
  assert.deepEqual(minutes(openHistory(path, warn, () => START + 5 * MINUTE).newest(5)), [2, 1])
  assert.equal(warnings.length, 1)
})

test('samples are taken in time, and a look that fails is not the last', async (t) => {
  const { path, warn, warnings } = place(t)
  const history = openHistory(path, warn)
  let looks = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = keepHistory(
    history,
    async () => {
      looks += 1
      if (looks === 1) throw new Error('not now')
      if (looks > 3) resolve()
      return sampleAt(looks)
    },
    warn,
    5,
  )
  const alive = setInterval(() => undefined, 1000) // the loop itself keeps nothing alive
  t.after(() => clearInterval(alive))
  await promise
  stop()
  assert.ok(history.newest(10).length >= 2)
  assert.deepEqual(warnings, ['looking at what is used'])
})
