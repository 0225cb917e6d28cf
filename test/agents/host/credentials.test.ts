import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AgentDriver, LaunchPlan } from '../../../src/agents/agent.ts'
import { demoDriver } from '../../../src/agents/demo/driver.ts'
import { startEngine, type TestEngine } from '../../support/engine.ts'
import { until } from '../../support/wait.ts'

let t: TestEngine
let key = 'first'
const asked: string[] = []
const home = mkdtempSync(join(tmpdir(), 'corral-credentials-'))
const seen = join(home, 'seen')

/** The demo agent, whose process first writes down what it was given. */
const telling: AgentDriver = {
  ...demoDriver,
  plan: (session, detection) => tellFirst(demoDriver.plan(session, detection)),
  spare: {
    ...demoDriver.spare,
    plan(detection, kind) {
      const plan = demoDriver.spare.plan(detection, kind)
      return plan && tellFirst(plan)
    },
  },
}

function tellFirst(plan: LaunchPlan): LaunchPlan {
  const script = `echo "$GIVEN_KEY" >> ${seen}; exec "$@"`
  return { ...plan, command: '/bin/sh', args: ['-c', script, 'sh', plan.command, ...plan.args] }
}

const given = (): string[] => (existsSync(seen) ? readFileSync(seen, 'utf8').trimEnd().split('\n') : [])

before(async () => {
  t = await startEngine({
    home,
    drivers: [telling],
    credentials(agent) {
      asked.push(agent)
      return Promise.resolve({ GIVEN_KEY: key })
    },
  })
})

after(() => t.stop())

async function newSession(): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode: 'auto' })).id
}

test('a process gets what there is when it starts; who waits starts anew when that changes', async () => {
  const [idle, busy] = [await newSession(), await newSession()]
  await t.turn(idle, '[[say one]]')
  assert.deepEqual([given(), asked], [['first'], ['demo']])
  const { seq } = await t.engine.turns.send({ sessionId: busy, input: [{ type: 'text', text: '[[hang]]' }] })
  await t.event('turn.accepted', { sessionId: busy, after: seq })
  key = 'second'
  await t.host.renew(['somebody'])
  assert.equal(t.host.running().length, 2)
  await t.host.renew(['demo'])
  assert.deepEqual(
    t.host.running().map(({ sessionId }) => sessionId),
    [busy],
  )
  await t.turn(idle, '[[say two]]')
  assert.deepEqual(given(), ['first', 'first', 'second'])
  await t.engine.turns.interrupt({ sessionId: busy })
  await t.event('turn.interrupted', { sessionId: busy, after: seq })
})

test('those that were started ahead are replaced', async () => {
  const kind = { cwd: t.cwd, ownTools: true }
  key = 'third'
  t.host.spares.keep('demo', kind, 1, 0)
  await until(() => t.host.spares.count('demo', kind).idle === 1 && given().at(-1) === 'third')
  key = 'fourth'
  await t.host.renew(['demo'])
  await until(() => given().at(-1) === 'fourth' && t.host.spares.count('demo', kind).idle === 1)
  t.host.spares.keep('demo', kind, 0)
})
