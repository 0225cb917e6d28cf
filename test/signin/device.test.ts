import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { isHeadless } from '../../src/signin/headless.ts'
import { startSignIn, type TestSignIn } from './support.ts'

let at: TestSignIn
/** How long was waited before each question, in seconds. */
let waits: number[]

beforeEach(async () => {
  waits = []
  at = await startSignIn({
    env: { DISPLAY: undefined },
    async sleep(ms, signal) {
      waits.push(ms / 1000)
      await new Promise((resolve) => setImmediate(resolve))
      signal.throwIfAborted()
    },
  })
  at.issuer.interval = 5
})

afterEach(() => at.stop())

async function message(flowId: string): Promise<string> {
  await at.end(flowId)
  return (await at.step(flowId, 'failed')).message
}

test('a code is shown, and the device waits as it is told to', async () => {
  at.issuer.deviceAnswers = ['authorization_pending', 'slow_down', 'authorization_pending']
  const { flowId } = at.signin.start({ provider: 'openai' })
  const { state, events } = await at.end(flowId)
  assert.equal(state, 'completed')
  assert.deepEqual(
    events.map(({ type }) => type),
    ['started', 'url', 'device_code', 'completed'],
  )
  const { verificationUrl, userCode, intervalSeconds, expiresInSeconds } = await at.step(
    flowId,
    'device_code',
  )
  assert.deepEqual([verificationUrl, userCode], [`${at.issuer.url}/activate`, 'ABCD-EFGH'])
  assert.deepEqual([intervalSeconds, expiresInSeconds], [5, 900])
  assert.match((await at.step(flowId, 'url')).url, /user_code=ABCD-EFGH$/)
  assert.equal((await at.step(flowId, 'completed')).loginMethod, 'device_code')
  assert.deepEqual(waits, [5, 5, 10, 10])
  for (const secret of at.issuer.secrets) assert.ok(!JSON.stringify(events).includes(secret))
})

test('denied and expired are told', async () => {
  at.issuer.deviceAnswers = ['authorization_pending', 'access_denied']
  assert.equal(await message(at.signin.start({ provider: 'openai' }).flowId), 'access was denied')
  at.issuer.deviceAnswers = ['expired_token']
  assert.match(await message(at.signin.start({ provider: 'openai' }).flowId), /has expired/)
  assert.deepEqual(at.signin.status().accounts, [])
})

test('a question that gets lost is asked again, less often', async () => {
  at.issuer.deviceAnswers = ['drop', 'drop']
  const { flowId } = at.signin.start({ provider: 'openai' })
  assert.equal((await at.end(flowId)).state, 'completed')
  assert.deepEqual(waits, [5, 10, 20])
})

test('an issuer that is in trouble for a moment is asked again, less often', async () => {
  const troubles = [503, 429]
  at.issuer.instead = (path, response) => {
    const status = path === '/token' ? troubles.shift() : undefined
    if (status === undefined) return false
    response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Later</h1>')
    return true
  }
  const { flowId } = at.signin.start({ provider: 'openai' })
  assert.equal((await at.end(flowId)).state, 'completed')
  assert.deepEqual(waits, [5, 10, 20])
})

test('it can be cancelled while it waits', async () => {
  at.issuer.deviceAnswers = Array.from({ length: 100_000 }, () => 'authorization_pending' as const)
  const { flowId } = at.signin.start({ provider: 'openai', mode: 'device_code' })
  await at.step(flowId, 'device_code')
  at.signin.cancel(flowId)
  assert.equal(await message(flowId), 'it was cancelled')
})

test('an issuer without device codes: auto takes the browser, who insists is told', async () => {
  at.issuer.hide = ['device_authorization_endpoint']
  const { flowId } = at.signin.start({ provider: 'openai' })
  await at.issuer.approve((await at.step(flowId, 'url')).url)
  assert.equal((await at.end(flowId)).state, 'completed')
  assert.equal((await at.step(flowId, 'completed')).loginMethod, 'browser')
  const other = at.signin.start({ provider: 'openai', mode: 'device_code' })
  assert.match(await message(other.flowId), /use the browser/)
})

test('who has a browser is sent there, and whoever asks knows best', async () => {
  const { flowId } = at.signin.start({ provider: 'openai', headless: false })
  assert.match((await at.step(flowId, 'url')).url, /\/authorize\?/)
})

test('headless is: CI, SSH, or Linux without a screen', () => {
  assert.equal(isHeadless({ DISPLAY: ':0' }, 'linux'), false)
  assert.equal(isHeadless({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux'), false)
  assert.equal(isHeadless({}, 'linux'), true)
  assert.equal(isHeadless({}, 'darwin'), false)
  assert.equal(isHeadless({ SSH_CONNECTION: '1' }, 'darwin'), true)
  assert.equal(isHeadless({ CI: 'true', DISPLAY: ':0' }, 'linux'), true)
})
