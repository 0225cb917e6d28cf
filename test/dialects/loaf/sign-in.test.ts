import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { corralOf } from '../../../src/cli/commands/rpc-corral.ts'
import type { FlowListener, SignIn } from '../../../src/dialects/loaf/ports.ts'
import { serve } from '../../../src/dialects/loaf/server.ts'
import { connect, type NativeClient } from '../../../src/dialects/native/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { eventually, type Line } from './support.ts'

let daemon: TestDaemon
let native: NativeClient

before(async () => {
  daemon = await startDaemon()
  native = await connect(daemon.socket)
})

after(async () => {
  native.close()
  await daemon.stop()
})

/** Somebody's sign-in: a flow waits until the test ends it. */
function scripted() {
  const keys: string[][] = []
  const flows: { tell: FlowListener; end: PromiseWithResolvers<Record<string, unknown>>; options: object }[] =
    []
  const signIn: SignIn = {
    status: () =>
      Promise.resolve({
        openai: true,
        openrouter: keys.length > 0,
        antigravity: false,
        anthropic: false,
        profile: { email: 'a@example.com', name: 'A' },
      }),
    connect(_provider, options, tell) {
      const end = Promise.withResolvers<Record<string, unknown>>()
      const flow_id = `flow-${flows.length + 1}`
      flows.push({ tell, end, options })
      tell('auth.flow.started', { flow_id })
      tell('auth.flow.url', { flow_id, url: 'https://example.com/in' })
      return end.promise
    },
    cancel(flowId) {
      const flow = flows[Number(flowId.split('-')[1]) - 1]
      flow?.tell('auth.flow.failed', { flow_id: flowId, message: 'cancelled' })
      flow?.end.reject(new Error('cancelled'))
      return Promise.resolve(flow !== undefined)
    },
    setKey(...key) {
      keys.push(key)
      return Promise.resolve()
    },
    limits: () => Promise.resolve({ openai: null, antigravity: { ok: false, message: 'no' } }),
  }
  return { signIn, flows, keys }
}

function session(signIn: SignIn) {
  const input = new PassThrough()
  const output = new PassThrough()
  let text = ''
  output.on('data', (data: Buffer) => (text += data.toString()))
  const lines = (): Line[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line)
  let onboarded = false
  const memory = { onboarded: () => onboarded, setOnboarded: (done: boolean) => void (onboarded = done) }
  const place = { cwd: daemon.project, home: daemon.home }
  const corral = corralOf(native, native)
  const newId = (): string => crypto.randomUUID()
  const server = serve({ corral, signIn, memory, input, output, ...place, newId, now: Date.now })
  const say = (id: number, method: string, params?: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  const answer = (id: number) => eventually(`answer ${id}`, () => lines().find((line) => line.id === id))
  const events = () => lines().flatMap(({ params }) => params ?? [])
  return { input, server, say, answer, events }
}

describe('a flow', () => {
  test('is told with its id, and answered when it has ended', async () => {
    const { signIn, flows } = scripted()
    const { input, server, say, answer, events } = session(signIn)
    say(1, 'auth.connect.openai', { mode: 'device_code', originator: 'test' })
    await eventually('a flow', () => flows[0])
    assert.deepEqual(flows[0]!.options, { mode: 'device_code', originator: 'test' })
    const device = { verification_url: 'https://example.com', user_code: 'AB', interval_seconds: 5 }
    flows[0]!.tell('auth.flow.device_code', { flow_id: 'flow-1', ...device, expires_in_seconds: 900 })
    flows[0]!.end.resolve({ login_method: 'device_code', account_id: 'acct' })
    const { result } = await answer(1)
    assert.deepEqual(result, { login_method: 'device_code', account_id: 'acct', provider: 'openai' })
    const told = events()
    assert.deepEqual(
      told.map(({ type }) => type),
      ['auth.flow.started', 'auth.flow.url', 'auth.flow.device_code', 'state.changed'],
    )
    assert.deepEqual(told[1]!.payload, {
      provider: 'openai',
      flow_id: 'flow-1',
      url: 'https://example.com/in',
    })
    assert.equal(told[3]!.payload.reason, 'auth_openai_connected')
    input.end()
    await server.closed
  })

  test('can be cancelled, and is told of once', async () => {
    const { signIn, flows } = scripted()
    const { input, server, say, answer, events } = session(signIn)
    say(1, 'auth.connect.antigravity')
    await eventually('a flow', () => flows[0])
    say(2, 'auth.cancel', { flow_id: 'flow-1' })
    assert.deepEqual((await answer(2)).result, { flow_id: 'flow-1', cancelled: true })
    const { error } = await answer(1)
    assert.deepEqual([error!.code, error!.message], [-32603, 'cancelled'])
    assert.equal(events().filter(({ type }) => type === 'auth.flow.failed').length, 1)
    input.end()
    await server.closed
  })

  test('ends when the client does', async () => {
    const { signIn, flows } = scripted()
    const { input, server, say, answer } = session(signIn)
    say(1, 'auth.connect.openai')
    await eventually('a flow', () => flows[0])
    input.end()
    await server.closed
    assert.equal((await answer(1)).error!.message, 'cancelled')
  })
})

describe('accounts', () => {
  test('and keys are shown as what they are, never themselves', async () => {
    const { signIn, keys } = scripted()
    const { input, server, say, answer, events } = session(signIn)
    say(1, 'auth.set.openrouter_key', { api_key: ' sk-secret ' })
    const { configured, source, model_count } = (await answer(1)).result!
    assert.deepEqual([configured, source, typeof model_count], [true, 'fallback', 'number'])
    say(2, 'auth.set.exa_key', { api_key: 'exa-secret' })
    assert.deepEqual((await answer(2)).result, { configured: true, skipped: false })
    assert.deepEqual(keys, [
      ['openrouter', 'sk-secret'],
      ['exa', 'exa-secret'],
    ])
    assert.deepEqual(
      events().map(({ payload }) => payload.reason),
      ['openrouter_key_updated', 'exa_key_updated'],
    )
    say(3, 'auth.status')
    const status = (await answer(3)).result!
    assert.deepEqual(
      [status['has_openai_token'], status['has_openrouter_key'], status['has_antigravity_token']],
      [true, true, false],
    )
    assert.deepEqual(status['antigravity_profile'], { email: 'a@example.com', name: 'A' })
    say(4, 'limits.get')
    assert.deepEqual((await answer(4)).result, { openai: null, antigravity: { ok: false, message: 'no' } })
    assert.ok(!JSON.stringify([status, events()]).includes('secret'))
    input.end()
    await server.closed
  })
})
