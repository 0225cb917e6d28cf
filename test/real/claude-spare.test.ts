import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ANYWHERE } from '../../src/agents/agent.ts'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import { commandLine, startTime } from '../../src/agents/host/process.ts'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { claudeAbsent, scriptedClaude } from '../support/claude-env.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { askUntil, until } from '../support/wait.ts'

describe('a spare claude', { skip: claudeAbsent }, () => {
  let t: TestEngine
  let model: Awaited<ReturnType<typeof scriptedClaude>>
  before(async () => {
    model = await scriptedClaude()
    t = await startEngine({ drivers: [claudeDriver], env: model.env, options: { spare: true } })
  })
  after(async () => {
    await t.stop()
    await model.close()
  })

  async function spareRun(): Promise<string> {
    const isUp = (id: string): boolean =>
      (statSync(join(t.home, 'runs', id, 'out'), { throwIfNoEntry: false })?.size ?? 0) > 0
    return until(() => {
      const used = new Set(t.log.runs().map((run) => run.id))
      return readdirSync(join(t.home, 'runs')).find((id) => !used.has(id) && isUp(id))
    }, 'a spare was started')
  }

  test('becomes the process of the next session, in its directory and mode, and can be resumed', async () => {
    const spare = await spareRun()
    const session = await t.engine.sessions.create({
      agent: 'claude',
      cwd: t.cwd,
      mode: 'plan',
      model: 'claude-sonnet-4-5',
    })
    const events = await t.turn(session.id, 'hello [[remember quince]]')
    assert.equal(t.engine.sessions.get(session.id).run?.id, spare)
    const init = events.find((event) => event.type === 'agent.init')
    const raw = (init?.type === 'agent.init' ? init.raw : {}) as Record<string, unknown>
    assert.deepEqual([raw['cwd'], raw['permissionMode'], raw['model']], [t.cwd, 'plan', 'claude-sonnet-4-5'])
    const { pid } = t.engine.sessions.get(session.id).run!
    await t.host.end(session.id)
    assert.equal(startTime(pid), null)
    const again = await t.turn(session.id, '[[recall]]')
    const end = again.at(-1)
    assert.equal(end?.type === 'turn.completed' && end.text, 'recall: quince')
  })

  test('is not used for a conversation that exists, and another one waits for the next', async () => {
    const spare = await spareRun()
    const first = await t.engine.sessions.create({ agent: 'claude', cwd: t.cwd })
    await t.turn(first.id, 'one')
    const fork = await t.engine.sessions.fork({ sessionId: first.id })
    const waiting = await spareRun()
    assert.notEqual(waiting, spare)
    await t.turn(fork.id, 'two')
    assert.notEqual(t.engine.sessions.get(fork.id).run?.id, waiting)
  })

  test('none is kept for a session that no spare could become', async () => {
    const settings = { questions: false, systemPrompt: 'You are a parrot.', clientTools: [] }
    const { id } = await t.engine.sessions.create({ agent: 'claude', cwd: t.cwd, settings })
    await t.turn(id, 'through an API')
    const kept = t.host.spares.count('claude', { ...ANYWHERE, questions: false })
    assert.deepEqual(kept, { idle: 0, starting: 0 })
  })

  test('one that can ask is not for a session without questions; the next such session finds one of its kind', async () => {
    const kind = { ...ANYWHERE, questions: false }
    const asksIn = async (): Promise<{ runId: string; asks: boolean }> => {
      const { id } = await t.engine.sessions.create({
        agent: 'claude',
        cwd: t.cwd,
        settings: { questions: false },
      })
      const init = (await t.turn(id, 'hello')).find((event) => event.type === 'agent.init')
      const { tools } = init!.raw as { tools: string[] }
      return { runId: t.engine.sessions.get(id).run!.id, asks: tools.includes('AskUserQuestion') }
    }
    const spare = await spareRun()
    const cold = await asksIn()
    assert.deepEqual([cold.asks, cold.runId === spare], [false, false])
    await until(() => t.host.spares.count('claude', kind).idle >= 1, 'a spare of that kind was started')
    const waiting = new Set(readdirSync(join(t.home, 'runs')))
    const warm = await asksIn()
    assert.deepEqual([warm.asks, waiting.has(warm.runId)], [false, true])
  })

  test('ends with the daemon', async () => {
    const dir = join(t.home, 'runs', await spareRun())
    await t.host.endAll()
    await askUntil(
      () => strays(dir),
      (left) => left.length === 0,
      'no spare is left',
    )
  })
})

function strays(dir: string): string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(Number(pid))?.includes(dir))
}
