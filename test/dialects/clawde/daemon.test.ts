import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { test } from 'node:test'
import type { UpdateCheck } from '../../../src/dialects/ports.ts'
import { rigFor, type Json } from './support.ts'

test('daemon.status has every field in both spellings', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const status = await client.call('daemon.status')
  for (const field of ['activeSessions', 'watchedRepos', 'totalSessions']) {
    assert.equal(status[field], 0, field)
  }
  assert.ok(Number.isInteger(status['uptime']))
  for (const field of ['uptimeSecs', 'uptime_secs']) assert.equal(status[field], status['uptime'], field)
  assert.equal(status['version'], '9.9.9')
  assert.equal(status['port'], rig.port)
  assert.match(String(status['daemonId']), /^[0-9a-f]{64}$/)
  assert.equal(status['recoveryMode'], false)
})

const claude = {
  name: 'claude',
  title: 'Claude',
  installed: true,
  path: '/bin/claude',
  version: '2.0',
  problem: null,
  signedIn: true,
}

test('daemon.checkProvider says everything about an agent, whether it is there or not', async (t) => {
  const codex = {
    ...claude,
    name: 'codex',
    installed: false,
    path: null,
    version: null,
    signedIn: null,
    problem: 'not found',
  }
  const rig = await rigFor(t, { parts: { providers: async () => [claude, codex] } })
  const client = await rig.client()
  const there = await client.call('daemon.checkProvider', { provider: 'claude' })
  const { provider, available, installed, authenticated, version, path, error } = there
  assert.deepEqual(
    { provider, available, installed, authenticated, version, path, error },
    {
      provider: 'claude',
      available: true,
      installed: true,
      authenticated: true,
      version: '2.0',
      path: '/bin/claude',
      error: null,
    },
  )
  const gone = await client.call('daemon.checkProvider', { provider: 'codex' })
  assert.deepEqual([gone['available'], gone['authenticated'], gone['error']], [false, false, 'not found'])
  const unknown = await client.call('daemon.checkProvider', { provider: 'nobody' })
  assert.deepEqual(Object.keys(unknown), Object.keys(there))
  assert.match(String(unknown['error']), /nobody/)
  assert.equal((await client.call<{ providers: unknown[] }>('daemon.providers')).providers.length, 2)
})

test('daemon.doctor has eight checks, and its status is that of the worst', async (t) => {
  const finding = (name: string, status: 'ok' | 'warn' | 'error' | 'skipped') => ({
    group: 'daemon' as const,
    name,
    status,
    message: name,
    fix: null,
  })
  let disk: 'ok' | 'warn' = 'ok'
  const examine = async () => [
    finding('data_dir', 'ok'),
    finding('sqlite', 'ok'),
    finding('disk_space', disk),
    finding('agent_claude', 'ok'),
    finding('listener_clawde', 'ok'),
  ]
  const rig = await rigFor(t, { parts: { examine } })
  const client = await rig.client()
  const { checks, overallStatus } = await client.call<{ checks: Json[]; overallStatus: string }>(
    'daemon.doctor',
  )
  assert.equal(
    checks.map(({ name }) => name).join(' '),
    'data_dir auth_token sqlite port provider_claude mdns disk_space update',
  )
  assert.equal(overallStatus, 'ok')
  disk = 'warn'
  assert.equal((await client.call('daemon.doctor'))['overallStatus'], 'warn')
  chmodSync(rig.tokenFile, 0o644)
  const again = await client.call<{ checks: Json[] }>('daemon.doctor')
  assert.equal(again.checks[1]!['status'], 'warn')
})

test('daemon.doctor says what the release feed says', async (t) => {
  let found: UpdateCheck = { state: 'current', current: '9.9.9', latest: '9.9.9' }
  const stage = async (): Promise<never> => assert.fail('nothing to fetch')
  const updates = { check: async () => found, stage, pending: null }
  const client = await (await rigFor(t, { parts: { updates } })).client()
  const check = async (): Promise<unknown[]> => {
    const { checks } = await client.call<{ checks: Json[] }>('daemon.doctor')
    return [checks[7]!['status'], checks[7]!['message']]
  }
  assert.deepEqual(await check(), ['ok', '9.9.9 is the latest'])
  found = { state: 'available', current: '9.9.9', latest: '10.0.0', notes: '' }
  assert.deepEqual(await check(), ['warn', '10.0.0 is there'])
  found = { state: 'failed', current: '9.9.9', message: 'the feed is not JSON' }
  assert.deepEqual(await check(), ['warn', 'the feed is not JSON'])
  found = { state: 'unconfigured', current: '9.9.9', message: 'no feed' }
  assert.deepEqual(await check(), ['ok', 'no feed'])
})

test('without a release feed updates say so', async (t) => {
  const client = await (await rigFor(t)).client()
  const check = await client.call('daemon.checkUpdate')
  assert.deepEqual([check['current'], check['available'], check['update_available']], ['9.9.9', false, false])
  assert.equal((await client.call('daemon.applyUpdate'))['applied'], false)
})
