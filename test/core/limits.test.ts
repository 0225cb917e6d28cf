import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import { demoTranslator } from '../../src/agents/demo/translator.ts'
import { inForce } from '../../src/core/limits.ts'
import { eventsOf, newSession } from '../support/asking.ts'
import { startEngine } from '../support/engine.ts'

test('what an agent tells about its account is known of the agent, and outlives session and daemon', async (t) => {
  const first = await startEngine()
  const { engine, home } = first
  assert.equal(engine.agents.limits('demo'), null)
  const sessionId = await newSession(first, { mode: 'auto' })
  await first.turn(sessionId, '[[limits 63 21]]')
  const [event] = eventsOf(first, sessionId, 'agent.limits')
  assert.deepEqual([event?.agent, event?.plan], ['demo', 'demo'])
  assert.deepEqual(
    engine.agents.limits('demo')?.windows.map(({ name, usedPercent }) => [name, usedPercent]),
    [
      ['five_hour', 63],
      ['seven_day', 21],
    ],
  )
  await engine.sessions.destroy(sessionId)
  const before = engine.agents.limits('demo')
  await first.abandon()
  const second = await startEngine({ home })
  t.after(() => second.stop())
  assert.deepEqual(second.engine.agents.limits('demo'), before)
})

test('a plan that is not said again holds, windows are those that were told last', async (t) => {
  const silent = {
    ...demoDriver,
    translator: {
      ...demoDriver.translator,
      step(state: unknown, line: unknown) {
        const step = demoTranslator.step(state as { text: null }, line)
        const outputs = step.outputs.map((it) =>
          it.type === 'limits.told' && it.limits.windows[0]!.usedPercent > 90
            ? { ...it, limits: { windows: it.limits.windows } }
            : it,
        )
        return { ...step, outputs }
      },
    },
  }
  const engine = await startEngine({ drivers: [silent] })
  t.after(() => engine.stop())
  const sessionId = await newSession(engine, { mode: 'auto' })
  await engine.turn(sessionId, '[[limits 63 21]]')
  await engine.turn(sessionId, '[[limits 95]]')
  const { plan, windows } = engine.engine.agents.limits('demo')!
  assert.deepEqual([plan, windows.map(({ usedPercent }) => usedPercent)], ['demo', [95]])
})

test('a window that has begun anew since is not known', () => {
  const window = { name: 'w', usedPercent: 1, lengthMs: null }
  const told = { windows: [10, 20, null].map((resetsAt) => ({ ...window, resetsAt })), at: 1 }
  const left = (now: number) => inForce(told, now)?.windows.map(({ resetsAt }) => resetsAt)
  assert.deepEqual([9, 10, 30].map(left), [[10, 20, null], [20, null], [null]])
  assert.equal(inForce(null, 1), null)
})
