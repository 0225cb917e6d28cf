import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corralMetrics } from '../../src/system/metrics.ts'
import { renderMetrics } from '../../src/system/prometheus.ts'
import type { Sample } from '../../src/system/resources.ts'
import { keepTally } from '../../src/system/tally.ts'
import { newSession } from '../support/asking.ts'
import { startEngine } from '../support/engine.ts'

/** As strict as the format: every value has its type and help before it, once, and nothing comes twice. */
function parse(text: string): Map<string, number> {
  const values = new Map<string, number>()
  const types = new Map<string, string>()
  const helped = new Set<string>()
  assert.ok(text.endsWith('\n'))
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line)
    if (comment) {
      const [, kind, name, rest] = comment
      if (kind === 'HELP') assert.ok(!helped.has(name!) && helped.add(name!))
      else assert.ok(!types.has(name!) && types.set(name!, rest!))
      continue
    }
    const found =
      /^([a-z_]+)(\{[a-z_]+="[^"\n]*"(?:,[a-z_]+="[^"\n]*")*\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/.exec(line)
    assert.ok(found, `not a value: ${line}`)
    const [, name, labels = '', value] = found
    assert.ok(types.has(name!) && helped.has(name!), line)
    assert.equal(types.get(name!) === 'counter', name!.endsWith('_total'), line)
    assert.ok(!values.has(name! + labels), `twice: ${line}`)
    values.set(name! + labels, Number(value))
  }
  return values
}

test('labels and help texts are escaped', () => {
  const family = { name: 'a', type: 'gauge', help: 'one\\two\nthree "four"' } as const
  const text = renderMetrics([{ ...family, values: [{ labels: { l: 'a"b\\c\nd' }, value: 1.5 }] }])
  assert.equal(text, '# HELP a one\\\\two\\nthree "four"\n# TYPE a gauge\na{l="a\\"b\\\\c\\nd"} 1.5\n')
})

test('what happens in the engine is counted, once, from the start on', async (t) => {
  const rig = await startEngine()
  t.after(() => rig.stop())
  await newSession(rig) // before the count begins
  const { tally, close } = keepTally(rig.engine)
  let sample: Sample | null = null
  const deps = {
    engine: rig.engine,
    version: '1.2.3',
    startedAt: 1000,
    now: () => 62_500,
    tally,
    sample: () => sample,
    agents: () => ({ running: 1, idle: 2 }),
  }
  const before = parse(corralMetrics(deps))
  assert.equal(before.get('corral_uptime_seconds'), 61)
  assert.equal(before.get('corral_sessions{status="idle"}'), 1)
  assert.equal(before.get('corral_sessions_created_total'), 0)
  assert.equal(before.has('corral_memory_limit_bytes'), false, 'what is not known is not said')

  const sessionId = await newSession(rig)
  await rig.turn(sessionId, '[[drip 20 1]]')
  for (const behavior of ['allow', 'deny'] as const) {
    const after = rig.engine.events.head
    const turn = rig.turn(sessionId, '[[shell ls]]')
    const { approval } = await rig.event('approval.requested', { sessionId, after })
    const decision = behavior === 'allow' ? { behavior } : { behavior, comment: 'no' }
    await rig.engine.approvals.decide({ approvalId: approval.id, decision, by: 'me' })
    await turn
  }
  await rig.engine.turns.send({ sessionId, input: [{ type: 'text', text: '[[hang]]' }] })
  sample = {
    at: 1,
    totalBytes: 8000,
    usedBytes: 4000,
    daemonBytes: 10,
    agentsBytes: 300,
    active: 1,
    warm: 2,
    cold: 3,
  }
  const now = parse(corralMetrics(deps))
  const expected = {
    'corral_build_info{version="1.2.3"}': 1,
    corral_sessions_created_total: 1,
    'corral_sessions{status="running"}': 1,
    'corral_messages_total{from="user"}': 4,
    'corral_turns_total{outcome="completed"}': 3,
    'corral_turns_total{outcome="failed"}': 0,
    corral_tool_calls_total: 2,
    corral_approvals_asked_total: 2,
    'corral_approvals_total{decision="allow"}': 1,
    'corral_approvals_total{decision="deny"}': 1,
    corral_agent_starts_total: 1,
    'corral_agents{state="warm"}': 2,
    corral_log_head: rig.engine.events.head,
    'corral_memory_bytes{of="agents"}': 300,
    'corral_memory_bytes{of="machine"}': 4000,
    corral_memory_limit_bytes: 8000,
    'corral_session_tiers{tier="cold"}': 3,
  }
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, now.get(key)])), expected)
  assert.ok(now.get('corral_messages_total{from="agent"}')! >= 1)
  assert.ok(now.get('corral_memory_bytes{of="daemon"}')! > 1024 ** 2)
  assert.ok([...now.keys()].every((key) => !key.includes(sessionId)))

  close()
  await newSession(rig)
  assert.equal(tally.sessionsCreated, 1)
})
