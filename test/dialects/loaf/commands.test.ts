import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor, demoSession, startClient, turn, type Client, type Result } from './support.ts'

let daemon: TestDaemon
let client: Client
let sessionId: string

before(async () => {
  daemon = await startDaemon()
  client = startClient(daemon)
  sessionId = await demoSession(client)
  await turn(client, sessionId, 'hello')
})

after(async () => {
  await client.close()
  await daemon.stop()
})

async function execute(raw_command: string, who = client, session_id = sessionId): Promise<Result> {
  const { handled, output } = await who.call<{ handled: boolean; output: Result }>('command.execute', {
    session_id,
    raw_command,
  })
  assert.equal(handled, true)
  return output
}

describe('a command', () => {
  test('begins with a slash', async () => {
    const answer = await client.call('command.execute', { session_id: sessionId, raw_command: 'hello /help' })
    assert.deepEqual(answer, { handled: false })
  })

  test('that is not known says so', async () => {
    assert.deepEqual(await execute('/Nope now'), { error: 'unknown command: /nope' })
    assert.deepEqual(await execute('/toString'), { error: 'unknown command: /tostring' })
  })

  test('of a session that is not there', async () => {
    const error = await client.fails('command.execute', { session_id: 'nobody', raw_command: '/help' })
    assert.equal(error.message, 'unknown session: nobody')
  })

  test('/help lists thirteen, however it is spelled', async () => {
    const { commands } = (await execute('/HELP  ')) as { commands: { name: string; description: string }[] }
    assert.equal(commands.length, 13)
    assert.ok(commands.every(({ name, description }) => /^\/[a-z]+$/.test(name) && description !== ''))
  })

  test('/auth, /onboarding, /model, /skills and /tools show what the methods show', async () => {
    const { auth_status, hint } = await execute('/auth')
    assert.deepEqual(auth_status, await client.call('auth.status'))
    assert.equal(typeof hint, 'string')
    assert.deepEqual(await execute('/onboarding'), await client.call('onboarding.status'))
    const { available, ...chosen } = await execute('/model')
    assert.deepEqual(available, await client.call('model.list'))
    assert.deepEqual(chosen, {
      selected_model: 'demo',
      selected_provider: 'demo',
      selected_thinking: 'HIGH',
      selected_openrouter_provider: 'any',
    })
    assert.deepEqual(await execute('/skills'), await client.call('skills.list'))
    assert.deepEqual(await execute('/tools'), await client.call('tools.list'))
  })

  test('/limits fails as the method does', async () => {
    const error = await client.fails('command.execute', { session_id: sessionId, raw_command: '/limits' })
    assert.deepEqual(error.message, 'limits requires at least one oauth provider')
  })

  test('/history lists, and goes on with an earlier session', async (t) => {
    for (const raw of ['/history', '/history list', '/history all']) {
      assert.deepEqual(await execute(raw), await client.call('history.list'))
    }
    const other = clientFor(t, daemon)
    const own = (await other.call<{ session_id: string }>('session.create')).session_id
    for (const which of ['last', sessionId, sessionId.slice(0, 20)]) {
      assert.equal((await execute(`/history ${which}`, other, own))['resumed'], sessionId)
    }
    await other.event('state.changed', (it) => it.reason === 'session_resumed')
    assert.equal((await other.state(sessionId)).history.length, 2)
    const error = await other.fails('command.execute', { session_id: own, raw_command: '/history nobody' })
    assert.equal(error.message, 'no saved chat matched id: nobody')
  })

  test('/compress needs a model, and something that was said', async (t) => {
    const empty = await execute('/compress', client, await demoSession(client))
    assert.deepEqual(
      [empty['compressed'], empty['reason'], empty['hint']],
      [false, 'manual', 'nothing has been said yet'],
    )
    const other = clientFor(t, daemon)
    const own = (await other.call<{ session_id: string }>('session.create')).session_id
    const error = await other.fails('command.execute', { session_id: own, raw_command: '/compress' })
    assert.equal(error.message, 'select a model first before running /compress')
  })

  test('/clear begins afresh', async () => {
    const own = await demoSession(client)
    await turn(client, own, 'hello')
    assert.deepEqual(await execute('/clear', client, own), { cleared: true })
    assert.deepEqual((await client.state(own)).messages, [])
  })

  test('/forgeteverything forgets what was chosen', async (t) => {
    const other = clientFor(t, daemon)
    const own = await demoSession(other)
    await other.call('onboarding.complete')
    assert.deepEqual(await execute('/forgeteverything', other, own), { cleared: true })
    await other.event('state.changed', (it) => it.reason === 'forgeteverything')
    const { model, onboarding } = await other.call<{ model: Result; onboarding: Result }>('state.get')
    assert.deepEqual([model['selectedModel'], onboarding['completed']], ['', false])
  })

  for (const raw of ['/quit', '/exit']) {
    test(`${raw} really ends the process`, async (t) => {
      const other = clientFor(t, daemon)
      const own = (await other.call<{ session_id: string }>('session.create')).session_id
      assert.deepEqual(await execute(raw, other, own), { shutting_down: true })
      assert.equal(await other.exited, 0)
      assert.ok(other.events('state.changed').some(({ payload }) => payload.reason === 'quit_command'))
    })
  }
})
