import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CallRecord } from '../../src/relay/records/call-records.ts'
import { openCallSeries } from '../../src/relay/records/call-series.ts'
import { scratch } from './servers.ts'

const HOUR = 60 * 60 * 1000
const ALL = { since: 0, until: Infinity, by: 'hour' } as const

function call(seq: number, completedAt: number, patch: Partial<CallRecord> = {}): CallRecord {
  return {
    seq,
    id: `call-${seq}`,
    sessionId: 's',
    startedAt: completedAt - 10,
    completedAt,
    model: 'm',
    provider: 'demo',
    inputTokens: 1,
    outputTokens: 2,
    costAvoidedUsd: 0.25,
    status: 'success',
    error: null,
    stopReason: 'end_turn',
    fallbackChain: [],
    promptPreview: null,
    rawTranscript: null,
    ...patch,
  }
}

test('calls are summed by the hour in which they ended', () => {
  const series = openCallSeries({ path: join(scratch(), 'hours.json'), records: [] })
  series.add(call(1, 5))
  series.add(call(2, HOUR - 1, { status: 'error', outputTokens: 0, costAvoidedUsd: 0 }))
  series.add(call(3, HOUR))
  assert.deepEqual(series.list(ALL), [
    { at: 0, calls: 2, errors: 1, inputTokens: 2, outputTokens: 2, costAvoidedUsd: 0.25 },
    { at: HOUR, calls: 1, errors: 0, inputTokens: 1, outputTokens: 2, costAvoidedUsd: 0.25 },
  ])
  assert.equal(series.list({ ...ALL, since: HOUR }).length, 1)
  assert.equal(series.list({ ...ALL, until: HOUR - 1 }).length, 1)
})

test('days are those of this machine, and a day has all of its hours', () => {
  const series = openCallSeries({ path: join(scratch(), 'hours.json'), records: [] })
  const midnight = new Date(2026, 4, 3).getTime()
  for (const [index, hour] of [0, 12, 23, 24].entries()) series.add(call(index + 1, midnight + hour * HOUR))
  const days = series.list({ ...ALL, by: 'day' })
  assert.deepEqual(
    days.map(({ at, calls }) => [at, calls]),
    [
      [midnight, 3],
      [new Date(2026, 4, 4).getTime(), 1],
    ],
  )
})

test('whatever was written when the daemon ended, each call is counted once', () => {
  const path = join(scratch(), 'hours.json')
  const records = [call(1, 1), call(2, 2), call(3, 3)]
  const first = openCallSeries({ path, records: records.slice(0, 2) })
  first.flush()
  first.add(records[2]!)
  // It ends here without a flush: the records have what the file has not.
  const second = openCallSeries({ path, records })
  assert.equal(second.list(ALL)[0]!.calls, 3)
  second.flush()
  // The records were cleared.
  assert.equal(openCallSeries({ path, records: [] }).list(ALL)[0]!.calls, 3)
})

test('a file that cannot be read is counted anew from the records, and said', () => {
  const path = join(scratch(), 'hours.json')
  writeFileSync(path, '{"upTo":')
  const problems: string[] = []
  const series = openCallSeries({ path, records: [call(1, 1)], onProblem: (text) => problems.push(text) })
  assert.equal(series.list(ALL)[0]!.calls, 1)
  assert.equal(problems.length, 1)
})

test('only about three months are kept', () => {
  const series = openCallSeries({ path: join(scratch(), 'hours.json'), records: [] })
  for (let hour = 0; hour < 93 * 24 + 5; hour++) series.add(call(hour + 1, hour * HOUR))
  const hours = series.list(ALL)
  assert.equal(hours.length, 93 * 24)
  assert.equal(hours[0]!.at, 5 * HOUR)
})

test('nothing is written where nobody has called', () => {
  const path = join(scratch(), 'hours.json')
  openCallSeries({ path, records: [] }).flush()
  assert.equal(existsSync(path), false)
})
