import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { AgentDriver } from '../../../src/agents/agent.ts'
import { demoDriver } from '../../../src/agents/demo/driver.ts'
import { DEMO_MODELS } from '../../../src/agents/demo/protocol.ts'
import { createModels } from '../../../src/core/models.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../../support/engine.ts'
import { until } from '../../support/wait.ts'

const AGAIN_MS = 5 * 60_000

/** The demo agent, and how often it was started. */
function counted(changed: Partial<AgentDriver> = {}): { driver: AgentDriver; starts: () => number } {
  let starts = 0
  const driver: AgentDriver = { ...demoDriver, ...changed }
  const plan: AgentDriver['plan'] = (...given) => {
    starts += 1
    return driver.plan(...given)
  }
  return { driver: { ...driver, plan }, starts: () => starts }
}

async function engineFor(t: TestContext, options: TestEngineOptions): Promise<TestEngine> {
  const made = await startEngine(options)
  t.after(() => made.stop())
  return made
}

const processes = ({ home }: TestEngine): string[] => readdirSync(join(home, 'runs'))

test('an agent that has never run is asked once, whoever wants to know, and leaves nothing behind', async (t) => {
  const { driver, starts } = counted()
  const made = await engineFor(t, { drivers: [driver] })
  const head = made.log.head
  const answers = await Promise.all(Array.from({ length: 10 }, () => made.engine.agents.models('demo')))
  for (const models of answers) assert.deepEqual(models, DEMO_MODELS)
  assert.equal(starts(), 1)
  assert.deepEqual(await made.engine.agents.models('demo'), DEMO_MODELS)
  assert.equal(starts(), 1, 'what it has told is kept')
  assert.deepEqual(processes(made), [])
  assert.deepEqual(made.host.running(), [])
  assert.deepEqual(made.engine.sessions.list({ limit: 10, includeDestroyed: true }), [])
  assert.equal(made.log.head, head, 'nothing has happened')
  assert.deepEqual(made.warnings, [])
})

test('one that fails is left alone for a while', async (t) => {
  const { driver, starts } = counted()
  let now = Date.now()
  const made = await engineFor(t, {
    drivers: [driver],
    env: { CORRAL_DEMO_FAULT: 'exit' },
    clock: { now: () => now },
  })
  for (let calls = 0; calls < 3; calls++) assert.deepEqual(await made.engine.agents.models('demo'), [])
  assert.equal(starts(), 1)
  assert.match(made.warnings.join(), /asking demo for its models: .* ended before it told/)
  assert.deepEqual(processes(made), [])
  now += AGAIN_MS
  assert.deepEqual(await made.engine.agents.models('demo'), [])
  assert.equal(starts(), 2)
})

test('one that takes its time is waited for no longer than that, and what it tells later is kept', async (t) => {
  const go = (cwd: string): string => join(cwd, '..', 'go')
  const { driver, starts } = counted({
    plan(session, detection) {
      const { command, args, ...rest } = demoDriver.plan(session, detection)
      const script = `while [ ! -e "${go(rest.cwd)}" ]; do sleep 0.02; done; exec "$@"`
      return { ...rest, command: '/bin/sh', args: ['-c', script, 'slow', command, ...args] }
    },
  })
  const made = await engineFor(t, { drivers: [driver] })
  const models = createModels({
    log: made.log,
    catalog: { names: () => ['demo'] },
    clock: { now: Date.now },
    warn: (message) => made.warnings.push(message),
    waitMs: 100,
  })
  models.start(made.host)
  assert.deepEqual(await Promise.all([models.of('demo'), models.of('demo')]), [[], []])
  assert.deepEqual(await models.of('demo'), [], 'who comes later does not wait again')
  assert.equal(starts(), 1)
  await until(() => processes(made).length === 1, 'it is still being asked')
  writeFileSync(go(join(made.home, 'runs')), '')
  await until(() => made.log.models('demo').length > 0)
  assert.deepEqual(await models.of('demo'), DEMO_MODELS)
  await until(() => processes(made).length === 0)
  assert.equal(starts(), 1)
})

test('one that hangs ends with the daemon', async () => {
  const { driver } = counted({
    plan: (session, detection) => ({
      ...demoDriver.plan(session, detection),
      command: '/bin/sleep',
      args: ['1000'],
    }),
  })
  const made = await startEngine({ drivers: [driver] })
  void made.engine.agents.models('demo')
  await until(() => processes(made).some((run) => existsSync(join(made.home, 'runs', run, 'pid'))))
  await made.host.endAll()
  assert.deepEqual(processes(made), [])
  assert.deepEqual(await made.host.models('demo').catch((error: Error) => error.message), 'the daemon stops')
  await made.stop()
})

test('one that is not there, or has no account, is not started, and is asked as soon as it has one', async (t) => {
  let signedIn = false
  const { driver, starts } = counted({ signedIn: () => Promise.resolve({ signedIn, hint: null }) })
  const absent = counted({
    name: 'absent',
    detect: async () => ({ ...(await demoDriver.detect()), installed: false, problem: 'not there' }),
  })
  const made = await engineFor(t, { drivers: [driver, absent.driver] })
  for (const agent of ['demo', 'absent', 'nobody'])
    assert.deepEqual(await made.engine.agents.models(agent), [])
  assert.deepEqual([starts(), absent.starts()], [0, 0])
  assert.deepEqual(made.warnings, [])
  signedIn = true
  assert.deepEqual(await made.engine.agents.models('demo'), DEMO_MODELS)
  assert.equal(starts(), 1)
})
