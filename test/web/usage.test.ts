import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usageByAgent, usageByDay, type UsagePoint } from '../../web/state/usage.ts'

function point(at: number, agent: string | null, costUsd: number | null, tokens = 10): UsagePoint {
  return {
    at,
    agent,
    turns: 1,
    usage: { inputTokens: tokens, outputTokens: 1, cacheReadTokens: 5, cacheWriteTokens: 0, costUsd },
  }
}

test('agents are summed, the dearest first, and one that tells no cost has none', () => {
  const sums = usageByAgent([
    point(1, 'codex', null),
    point(1, 'claude', 0.5),
    point(2, 'claude', 0.25),
    point(2, null, null),
  ])
  assert.deepEqual(
    sums.map(({ agent, turns, costUsd }) => [agent, turns, costUsd]),
    [
      ['claude', 2, 0.75],
      ['codex', 1, null],
      ['unknown', 1, null],
    ],
  )
})

test('days have what each agent has cost', () => {
  const days = usageByDay([point(1, 'codex', null), point(1, 'claude', 0.5), point(2, 'claude', 0.25)])
  assert.deepEqual(
    days.map(({ at, cost, tokens }) => [at, cost.get('claude'), tokens]),
    [
      [1, 0.5, 22],
      [2, 0.25, 11],
    ],
  )
})
