import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor, demoSession, startClient, talking, turn, type Client, type Result } from './support.ts'

/** Rows of the protocol's tables that are nobody else's subject. */
let daemon: TestDaemon
let client: Client
const { send } = talking(() => client)

before(async () => {
  daemon = await startDaemon()
  client = startClient(daemon)
})

after(async () => {
  await client.close()
  await daemon.stop()
})

const ANYTHING = [undefined, null, [], [1], 7, 'x', {}]

test('methods that read no parameters take any, also those that fail for other reasons', async () => {
  for (const params of ANYTHING) {
    await client.call('onboarding.complete', params)
    for (const method of ['limits.get', 'auth.connect.antigravity']) {
      const { code, data } = await client.fails(method, params)
      assert.deepEqual([code, data.reason], [-32603, 'internal_error'], method)
    }
  }
})

test('system.shutdown takes no list, and then nothing ends', async (t) => {
  const own = clientFor(t, daemon)
  const { code, message } = await own.fails('system.shutdown', [1])
  assert.deepEqual([code, message], [-32602, 'invalid params for system.shutdown: expected object'])
  assert.equal((await own.call('system.ping'))['ok'], true)
})

test('who serves a model of OpenRouter is chosen with it, and shown', async (t) => {
  const own = clientFor(t, daemon)
  const wish = { model_id: 'default', provider: 'openrouter', thinking_level: 'LOW' }
  const chosen = await own.call('model.select', { ...wish, openrouter_provider: 'somebody' })
  assert.equal(chosen['selected_openrouter_provider'], 'somebody')
  const { payload } = await own.event('state.changed', (it) => it.reason === 'model_selected')
  assert.ok(!('session_id' in payload), 'only a new session is named')
  const { model } = payload['snapshot'] as { model: Result }
  assert.equal(model['selectedOpenRouterProvider'], 'somebody')
  const { models } = await own.call<{ models: Result[] }>('model.list', { provider: 'openrouter' })
  assert.ok(models.length > 1 && models.every(({ routingProviders }) => Array.isArray(routingProviders)))
})

test('sessions run side by side', async () => {
  const [one, other] = [await demoSession(client), await demoSession(client)]
  await send(one, '[[hang]]')
  await turn(client, other, 'hello')
  assert.equal((await client.state(one)).pending, true)
  await client.call('session.interrupt', { session_id: one })
  await client.event('session.interrupted', (it) => it.session_id === one)
})
