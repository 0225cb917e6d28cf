import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { clientFor, daemonFor, refusal, tokenOf, webSocketOf } from './support.ts'

let daemon: TestDaemon
let client: NativeClient
before(async () => {
  daemon = await startDaemon({ env: { CORRAL_RELAY_AGENT: 'demo' } })
  client = await connect(daemon.socket, { reconnect: true })
})
after(async () => {
  client.close()
  await daemon.stop()
})

/** A call to the relay, as a program makes it. */
async function ask(content: string, { headers, signal }: RequestInit = {}): Promise<number> {
  const response = await fetch(`${daemon.listeners['relay']}/v1/messages`, {
    method: 'POST',
    signal: signal ?? null,
    headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
    body: JSON.stringify({
      model: 'claude-sonnet-4-6',
      max_tokens: 1000,
      messages: [{ role: 'user', content }],
    }),
  })
  await response.text()
  return response.status
}

test('who only looks at a relay that nobody uses does not load it', async () => {
  const overview = await client.call('relay.overview')
  assert.equal(overview.state, 'unused')
  assert.equal(overview.address, daemon.listeners['relay'])
  assert.deepEqual(await client.call('relay.calls'), { calls: [], more: false })
  assert.deepEqual(await client.call('relay.series'), { points: [] })
  assert.equal(existsSync(join(daemon.corralHome, 'relay')), false)
})

test('calls are told, the newest first, with their tokens, and counted by the hour and the day', async () => {
  const since = Date.now()
  for (const word of ['one', 'two', 'three']) assert.equal(await ask(`[[say ${word}]]`), 200)
  assert.equal(await ask('[[fail 500]]'), 500)

  const { calls, more } = await client.call('relay.calls', { limit: 3 })
  assert.equal(more, true)
  assert.deepEqual(
    calls.map(({ status }) => status),
    ['error', 'success', 'success'],
  )
  assert.ok(calls[1]!.outputTokens > 0 && calls[1]!.costAvoidedUsd > 0)
  assert.equal(calls[1]!.promptPreview, null)
  const older = await client.call('relay.calls', { before: calls[2]!.seq })
  assert.equal(older.calls.length, 1)
  assert.equal(older.more, false)
  const newer = await client.call('relay.calls', { after: calls[1]!.seq })
  assert.deepEqual(newer.calls, [calls[0]])

  const { points } = await client.call('relay.series', { since, by: 'day' })
  const sum = (part: 'calls' | 'errors'): number => points.reduce((total, point) => total + point[part], 0)
  assert.deepEqual([sum('calls'), sum('errors')], [4, 1])
  const tomorrow = since + 24 * 60 * 60 * 1000
  assert.deepEqual((await client.call('relay.series', { since: tomorrow })).points, [])
})

test('the counts are the same after a stop, and after kill -9', async () => {
  const counted = async (): Promise<number> => {
    const { points } = await client.call('relay.series')
    return points.reduce((total, { calls }) => total + calls, 0)
  }
  const before = await counted()
  await daemon.terminate()
  await daemon.restart()
  assert.equal(await counted(), before)
  await ask('[[say more]]')
  const file = join(daemon.corralHome, 'relay', 'recent-calls.jsonl')
  const { calls } = await client.call('relay.calls', { limit: 1 })
  await until(() => readFileSync(file, 'utf8').includes(calls[0]!.id), 'the call is in the file')
  await daemon.kill9()
  await daemon.restart()
  assert.equal(await counted(), before + 1)
})

test('a call is among those under way until it is over', async () => {
  const leave = new AbortController()
  const asked = ask('[[hang]]', { headers: { 'x-ir-session-id': 'mine' }, signal: leave.signal })
  const running = await until(async () => {
    const overview = await client.call('relay.overview')
    return overview.running.length === 1 && overview
  }, 'the call runs')
  assert.equal(running.state, 'open')
  assert.equal(running.agent, 'demo')
  assert.equal(running.missing, null)
  assert.deepEqual(running.providers, [{ provider: 'demo', status: 'ok', reason: null, retryAt: null }])
  assert.equal(running.runningCount, 1)
  assert.equal(running.running[0]!.sessionId, 'mine')
  leave.abort()
  await assert.rejects(asked, { name: 'AbortError' })
  await until(async () => (await client.call('relay.overview')).runningCount === 0, 'no call runs')
})

test('settings are changed by name, and keys never come back', async () => {
  const upstream = { name: 'spare', kind: 'openai' as const, baseUrl: 'http://127.0.0.1:9/v1' }
  const set = await client.call('relay.settings.set', {
    poolSize: 3,
    storePrompts: true,
    licenseKey: 'planted-license-key',
    upstreams: [{ ...upstream, apiKey: 'planted-upstream-key', model: 'small' }],
  })
  assert.equal(set.poolSize, 3)
  assert.equal(set.hasLicenseKey, true)
  assert.deepEqual(set.upstreams, [{ ...upstream, model: 'small', models: {}, hasKey: true }])
  const shown = await client.call('relay.settings.get')
  assert.deepEqual(shown, set)
  assert.ok(!/planted|•/.test(JSON.stringify(shown)))

  const stored = (): string => readFileSync(join(daemon.corralHome, 'relay', 'settings.json'), 'utf8')
  const moved = { ...upstream, baseUrl: 'http://127.0.0.1:9/v2' }
  assert.equal((await client.call('relay.settings.set', { upstreams: [moved] })).upstreams[0]!.hasKey, true)
  assert.match(stored(), /planted-upstream-key/)
  // Another server does not get it.
  const elsewhere = { ...upstream, baseUrl: 'http://127.0.0.1:10/v1' }
  const after = await client.call('relay.settings.set', { upstreams: [elsewhere], licenseKey: null })
  assert.equal(after.upstreams[0]!.hasKey, false)
  assert.equal(after.hasLicenseKey, false)
  assert.doesNotMatch(stored(), /planted/)
})

test('settings that cannot be are refused, with the field, and nothing is changed', async () => {
  const before = await client.call('relay.settings.get')
  const wrong = await refusal(
    client.call('relay.settings.set', { poolSize: 1, workingDir: '/nowhere/at/all' }),
  )
  assert.equal(wrong.code, 'invalid')
  assert.equal(wrong.message, 'workingDir: no such directory')
  assert.equal(wrong.data['field'], 'workingDir')
  const unknown = await refusal(client.call('relay.settings.set', { agent: 'nobody' }))
  assert.equal(unknown.code, 'invalid')
  assert.deepEqual(await client.call('relay.settings.get'), before)
})

test('a device without `manage` sees the relay, and changes nothing', async (t) => {
  const { pin } = await client.call('device.pin')
  const { token } = await client.call('device.pair', { pin, name: 'Phone', platform: 'web' })
  assert.notEqual(token, tokenOf(daemon))
  const phone = await connect(webSocketOf(daemon), { token })
  t.after(() => phone.close())
  assert.equal((await phone.call('relay.overview')).state, 'open')
  assert.equal((await refusal(phone.call('relay.settings.set', { poolSize: 0 }))).code, 'forbidden')
})

test('a relay that is switched off says so', async (t) => {
  const other = await daemonFor(t, { env: { CORRAL_RELAY_ENABLED: 'false' } })
  const theirs = await clientFor(t, other)
  assert.equal((await theirs.call('relay.overview')).state, 'off')
  assert.deepEqual((await theirs.call('relay.calls')).calls, [])
  assert.equal((await refusal(theirs.call('relay.settings.get'))).code, 'unsupported')
})
