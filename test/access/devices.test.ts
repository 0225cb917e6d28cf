import assert from 'node:assert/strict'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, test } from 'node:test'
import { createDeviceAccess, type DeviceAccess } from '../../src/access/devices.ts'
import type { Device } from '../../src/core/devices.ts'
import { CorralError } from '../../src/core/error.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

let t: TestEngine
let access: DeviceAccess
let now = 0

async function start(home?: string): Promise<void> {
  t = await startEngine({ ...(home && { home }) })
  access = createDeviceAccess(t.engine, { now: () => now, pinTtlMs: 1000, warn: assert.fail })
}
beforeEach(() => start())
afterEach(() => t.stop())

const refused =
  (code: string, reason?: string) =>
  (error: unknown): boolean =>
    error instanceof CorralError && error.code === code && (!reason || error.data['reason'] === reason)

async function newDevice(
  name: string,
  scopes?: Device['scopes'],
): Promise<{ device: Device; token: string }> {
  return access.pair({ pin: access.pin(null, scopes).pin, name, platform: 'ios' })
}

test('a device comes in with a PIN, is known by its token, also after a restart, and nobody else is', async () => {
  const { device, token } = await newDevice(' Phone ')
  assert.deepEqual(
    [device.name, device.platform, device.scopes, device.lastSeenAt],
    ['Phone', 'ios', ['use'], null],
  )
  assert.match(token, /^[0-9a-f]{64}$/)
  assert.equal(access.authenticate(token)?.id, device.id)
  for (const wrong of ['', 'x', token.slice(1), token.toUpperCase(), `${token} `]) {
    assert.equal(access.authenticate(wrong), null)
  }
  await t.log.append({ events: [], writes: [] })
  await t.abandon()
  await start(t.home)
  assert.equal(access.authenticate(token)?.id, device.id)
  await t.log.append({ events: [], writes: [] }) // that it was there is written down by now
  assert.equal(t.engine.devices.list().length, 1)
})

test('the token is nowhere: not in the log, not in the list, not in the file', async () => {
  const { device, token } = await newDevice('Phone')
  const events = t.engine.events.read({ after: 0, types: ['device.paired'], limit: 9 })
  assert.equal(events.length, 1)
  assert.deepEqual(Object.keys(device).toSorted(), [
    'id',
    'lastSeenAt',
    'name',
    'pairedAt',
    'platform',
    'scopes',
  ])
  const hash = new DatabaseSync(join(t.home, 'corral.db'))
  const row = hash.prepare('SELECT token_hash FROM devices').get()
  hash.close()
  assert.match(String(row?.['token_hash']), /^[0-9a-f]{64}$/)
  assert.ok(!events[0]!.json.includes(String(row?.['token_hash'])))
  for (const file of ['corral.db', 'corral.db-wal']) {
    assert.ok(!readFileSync(join(t.home, file), 'latin1').includes(token), file)
  }
})

test('a PIN is wrong, used, or too old, and what is wrong with the device uses none up', async () => {
  const { pin } = access.pin(null)
  for (const about of [
    { name: '', platform: 'ios' },
    { name: 'a\nb', platform: 'ios' },
    { name: 'x'.repeat(101), platform: 'ios' },
    { name: 'a', platform: 'toaster' },
  ]) {
    await assert.rejects(access.pair({ pin, ...about }), refused('invalid'), JSON.stringify(about))
  }
  const phone = { name: 'Phone', platform: 'ios' }
  await access.pair({ pin, ...phone })
  await assert.rejects(access.pair({ pin, ...phone }), refused('pin_invalid', 'wrong'))
  const old = access.pin(null)
  now += 1000
  await assert.rejects(access.pair({ pin: old.pin, ...phone }), refused('pin_expired'))
  access.pin(null)
  for (let i = 0; i < 4; i++)
    await assert.rejects(access.pair({ pin: 'x', ...phone }), refused('pin_invalid'))
  await assert.rejects(access.pair({ pin: 'x', ...phone }), refused('pin_invalid', 'locked'))
  assert.equal(t.engine.devices.list().length, 1)
})

test('two with the same PIN at the same time: one comes in', async () => {
  const { pin } = access.pin(null)
  const tries = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) => access.pair({ pin, name: `d${i}`, platform: 'web' })),
  )
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal(t.engine.devices.list().length, 1)
})

test('a PIN is not used up when the log cannot be written', async () => {
  const { pin } = access.pin(null)
  const phone = { pin, name: 'Phone', platform: 'ios' }
  const db = new DatabaseSync(join(t.home, 'corral.db'))
  try {
    db.exec(`CREATE TRIGGER full BEFORE INSERT ON devices BEGIN SELECT raise(ABORT, 'the disk is full'); END`)
    await assert.rejects(access.pair(phone), refused('storage'))
    db.exec('DROP TRIGGER full')
  } finally {
    db.close()
  }
  assert.equal((await access.pair(phone)).device.name, 'Phone')
})

test('who was put out is out at once, and it is said to whoever holds its connections', async () => {
  const { device, token } = await newDevice('Phone')
  const revoked = t.event('device.revoked')
  await access.revoke(null, device.id)
  assert.equal((await revoked).deviceId, device.id)
  assert.equal(access.authenticate(token), null)
  assert.deepEqual(t.engine.devices.list(), [])
  await assert.rejects(access.revoke(null, device.id), refused('device_not_found'))
  await assert.rejects(access.rename(null, device.id, 'x'), refused('device_not_found'))
})

test('the PINs of a device go with it', async () => {
  const { device: boss } = await newDevice('Boss', ['manage'])
  const [own, bosses] = [access.pin(null), access.pin(boss, ['manage'])]
  await access.revoke(null, boss.id)
  const about = { name: 'Phone', platform: 'ios' }
  await assert.rejects(access.pair({ pin: bosses.pin, ...about }), refused('pin_invalid'))
  assert.equal((await access.pair({ pin: own.pin, ...about })).device.name, 'Phone')
})

test('a device does nothing to others unless it may; itself it may rename, and leave', async () => {
  const { device: phone } = await newDevice('Phone')
  const { device: other } = await newDevice('Other')
  const { device: boss } = await newDevice('Boss', ['manage'])
  assert.deepEqual(boss.scopes, ['use', 'manage'])
  assert.throws(() => access.pin(phone), refused('forbidden'))
  await assert.rejects(access.rename(phone, other.id, 'x'), refused('forbidden'))
  await assert.rejects(access.revoke(phone, boss.id), refused('forbidden'))
  assert.equal((await access.rename(phone, phone.id, 'Mine')).name, 'Mine')
  assert.equal((await access.rename(boss, other.id, 'Yours')).name, 'Yours')
  assert.match(access.pin(boss).pin, /^\d{6}$/)
  await access.revoke(phone, phone.id)
  await access.revoke(boss, other.id)
  assert.deepEqual(
    t.engine.devices.list().map(({ name }) => name),
    ['Boss'],
  )
})

test('when it was last there is kept to the minute', async () => {
  const { device, token } = await newDevice('Phone')
  access.authenticate(token)
  await t.log.append({ events: [], writes: [] })
  const { lastSeenAt } = t.engine.devices.get(device.id)
  assert.ok(lastSeenAt !== null && lastSeenAt >= device.pairedAt)
  for (let i = 0; i < 10; i++) access.authenticate(token)
  await t.log.append({ events: [], writes: [] })
  assert.equal(t.engine.devices.get(device.id).lastSeenAt, lastSeenAt)
  await t.log.append({
    events: [],
    writes: [{ op: 'device.seen', id: device.id, at: lastSeenAt - 60_001 }],
  })
  access.authenticate(token)
  await t.log.append({ events: [], writes: [] })
  assert.ok(t.engine.devices.get(device.id).lastSeenAt! >= lastSeenAt)
})
