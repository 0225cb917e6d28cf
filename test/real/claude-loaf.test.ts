import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { ModelOption } from '../../src/dialects/loaf/wire.ts'
import { clientFor, turn, type Client } from '../dialects/loaf/support.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { until } from '../support/wait.ts'
import { type Rig, startRig } from './rig.ts'

let rig: Rig

const CLAUDE = { model_id: 'default', provider: 'anthropic', thinking_level: 'HIGH' }

async function opened(t: TestContext): Promise<{ client: Client; sessionId: string; cwd: string }> {
  const cwd = rig.directory()
  const client = clientFor(t, { env: rig.daemon.env, project: cwd })
  await client.call('model.select', CLAUDE)
  const { session_id } = await client.call<{ session_id: string }>('session.create')
  return { client, sessionId: session_id, cwd }
}

describe('loaf with the real claude', { skip: claudeAbsent }, () => {
  before(async () => {
    rig = await startRig()
  })
  after(() => rig.close())

  test('is a provider, streams, and runs tools without a question', async (t) => {
    const { client, sessionId, cwd } = await opened(t)
    const { providers } = await client.call<{ providers: string[] }>('model.list')
    assert.ok(providers.includes('anthropic') && !providers.includes('demo'))
    await turn(client, sessionId, '[[drip 12 20]]')
    const pieces = client.events('session.stream.chunk').map(({ payload }) => payload.chunk.answerText)
    assert.ok(pieces.length > 2)
    assert.match(pieces.join(''), /^w1 .* w12$/)
    await turn(client, sessionId, '[[write made.txt hello]]')
    assert.equal(readFileSync(join(cwd, 'made.txt'), 'utf8').trim(), 'hello')
    const started = client.events('session.tool.call.started')[0]!.payload.data.call
    const completed = client.events('session.tool.call.completed')[0]!.payload.data.executed
    assert.deepEqual([started.name, completed.callId, completed.ok], ['Write', started.callId, true])
  })

  test('tells its models, and thinks for as long as was chosen', async (t) => {
    const { client, sessionId } = await opened(t)
    const answer = async () => {
      const { lines } = await turn(client, sessionId, '[[effort]]')
      return lines.findLast(({ params }) => params?.payload.message?.kind === 'assistant')!.params!.payload
        .message.text
    }
    assert.equal(await answer(), 'effort: high')
    const { models } = await client.call<{ models: ModelOption[] }>('model.list', { provider: 'anthropic' })
    const opus = models.find(({ id }) => id === 'opus')!
    assert.deepEqual(opus.supportedThinkingLevels, ['LOW', 'MEDIUM', 'HIGH', 'XHIGH'])
    assert.match(opus.description, /Opus/)
    await client.call('model.select', { ...CLAUDE, model_id: 'sonnet', thinking_level: 'XHIGH' })
    assert.equal(await answer(), 'effort: xhigh')
    await client.call('model.select', { ...CLAUDE, thinking_level: 'MINIMAL' })
    assert.equal(await answer(), 'effort: low')
  })

  test('tells its tools', async (t) => {
    const { client, sessionId } = await opened(t)
    await turn(client, sessionId, 'hello')
    const { tools } = await client.call<{ tools: { name: string }[] }>('tools.list')
    const names = tools.map(({ name }) => name)
    assert.ok(names.includes('Bash') && names.includes('Read'), names.join())
  })

  test('is steered in the middle of a turn', async (t) => {
    const { client, sessionId } = await opened(t)
    await client.call('session.send', { session_id: sessionId, text: '[[shell sleep 1]]' })
    await client.event('session.tool.call.started')
    const { accepted } = await client.call('session.steer', {
      session_id: sessionId,
      text: '[[say steered]]',
    })
    assert.equal(accepted, true)
    await client.event('session.completed')
    await client.event('session.status', (it) => it.status_label === 'steer applied; continuing...')
  })

  test('is interrupted before its first word', async (t) => {
    const { client, sessionId } = await opened(t)
    await client.call('session.send', { session_id: sessionId, text: '[[hang]]' })
    await client.call('session.interrupt', { session_id: sessionId })
    await client.event('session.interrupted')
    assert.deepEqual(client.events('session.error'), [])
  })

  for (const end of ['SIGTERM', 'SIGKILL'] as const) {
    test(`--standalone, ${end}: neither Claude nor what it has started is left`, async (t) => {
      if (process.platform !== 'linux') return t.skip('reads /proc')
      const home = join(rig.daemon.home, `alone-${end}`)
      const project = rig.directory()
      const client = clientFor(t, { env: { ...rig.daemon.env, CORRAL_HOME: home }, project }, [
        '--standalone',
      ])
      await client.call('model.select', CLAUDE)
      const { session_id } = await client.call<{ session_id: string }>('session.create')
      await client.call('session.send', { session_id, text: '[[shell touch begun; sleep 3600]]' })
      await until(() => existsSync(join(project, 'begun')), 'the command')
      const others = (): number[] => running(`CORRAL_HOME=${home}`).filter((pid) => pid !== client.child.pid)
      assert.ok(others().length > 2)
      client.child.kill(end)
      await client.exited
      await until(() => others().length === 0, 'the end of all')
    })
  }
})

/** Processes with this in their environment. */
function running(variable: string): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      return `\0${environment}`.includes(`\0${variable}\0`) ? [Number(pid)] : []
    } catch {
      return []
    }
  })
}
