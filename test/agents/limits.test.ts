import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DriverOutput } from '../../src/agents/output.ts'
import { only, translate as claude } from './claude-recordings.ts'
import { translate as codex } from './codex-recordings.ts'
import { ACCEPTED, ended, OPENED, STARTED } from './codex-said.ts'

const HOUR = 3_600_000
const AT = 1_794_825_720 // a whole minute
const told = (outputs: DriverOutput[]) => only(outputs, 'limits.told').map(({ limits }) => limits)

describe('Claude tells what is left', () => {
  const event = (info: object) => ({ type: 'rate_limit_event', rate_limit_info: info })
  const windows = (five: number, resetsAt = AT) => ({
    unifiedWindows: {
      five_hour: { utilization: five, resetsAt, status: 'allowed' },
      seven_day: { utilization: 0.21, resetsAt: AT + 86_400 },
    },
  })

  test('once for every noticeable change', () => {
    const lines = [windows(0.6301), windows(0.6304), windows(0.6304, AT + 3), windows(0.64)]
    const [first, second, ...more] = told(claude(lines.map(event)))
    assert.deepEqual(first, {
      windows: [
        { name: 'five_hour', usedPercent: 63, lengthMs: 5 * HOUR, resetsAt: AT * 1000 },
        { name: 'seven_day', usedPercent: 21, lengthMs: 168 * HOUR, resetsAt: (AT + 86_400) * 1000 },
      ],
    })
    assert.deepEqual([second?.windows[0]?.usedPercent, more], [64, []])
  })

  test('of one window only, when it is used up: the others are as they were', () => {
    const rejected = { status: 'rejected', rateLimitType: 'seven_day_opus', resetsAt: AT }
    const both = told(claude([windows(0.5), rejected].map(event))).at(-1)!.windows
    assert.deepEqual(
      both.map(({ name, usedPercent }) => [name, usedPercent]),
      [
        ['seven_day_opus', 100],
        ['five_hour', 50],
        ['seven_day', 21],
      ],
    )
    assert.deepEqual(told(claude([event(rejected)])), [
      { windows: [{ name: 'seven_day_opus', usedPercent: 100, lengthMs: 168 * HOUR, resetsAt: AT * 1000 }] },
    ])
  })

  test('and what says nothing about it is no news', () => {
    const nothing = [{}, { status: 'allowed' }, { unifiedWindows: { five_hour: 7 } }]
    assert.deepEqual(told(claude(nothing.map(event))), [])
  })
})

describe('Codex tells what is left', () => {
  const updated = (rateLimits: object) => ({ method: 'account/rateLimits/updated', params: { rateLimits } })
  const window = (usedPercent: number) => ({ usedPercent, windowDurationMins: 300, resetsAt: AT })
  const account = { id: 's1:account', result: { account: { type: 'chatgpt', planType: 'plus' } } }
  const turn = [account, OPENED, ACCEPTED, STARTED]

  test('with the plan, once for every noticeable change', () => {
    const lines = [63, 63, 64].map((used) =>
      updated({ limitId: 'codex', primary: window(used), secondary: null }),
    )
    const [first, second, ...more] = told(codex([...turn, ...lines]))
    assert.deepEqual(first, {
      plan: 'plus',
      windows: [{ name: 'primary', usedPercent: 63, lengthMs: 5 * HOUR, resetsAt: AT * 1000 }],
    })
    assert.deepEqual([second?.windows[0]?.usedPercent, more], [64, []])
    const named = updated({ primary: window(1), secondary: window(2), planType: 'pro' })
    const [other] = told(codex([...turn, named]))
    assert.deepEqual([other?.plan, other?.windows.map(({ name }) => name)], ['pro', ['primary', 'secondary']])
  })

  test('and nobody writes it down who rests, or for a limit of one model', () => {
    const line = updated({ limitId: 'codex', primary: window(63) })
    assert.deepEqual(told(codex([account, OPENED, line])), [])
    assert.deepEqual(told(codex([...turn, ended('completed'), line])), [])
    assert.deepEqual(told(codex([...turn, updated({ limitId: 'other', primary: window(63) })])), [])
    assert.deepEqual(told(codex([...turn, updated({ limitId: 'codex', primary: null })])), [])
  })
})
