import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rigFor, type Client, type Json } from './support.ts'

const about = { name: 'Phone', platform: 'ios' }

test('a stranger with the PIN becomes a device, and comes in with its token', async (t) => {
  const rig = await rigFor(t)
  const owner = await rig.client()
  assert.deepEqual(await owner.call('daemon.setName', { name: 'Mac Mini' }), { ok: true, name: 'Mac Mini' })
  const pin = await owner.call('daemon.pairPin')
  assert.match(String(pin['pin']), /^[1-9]\d{5}$/)
  assert.equal(pin['expires_in_seconds'], 600)
  assert.equal(pin['host_name'], 'Mac Mini')
  assert.equal(pin['qrPayload'], `clawd://connect?host=127.0.0.1&port=${rig.port}&pin=${String(pin['pin'])}`)
  const qr = JSON.parse(String(pin['qrJson'])) as Json
  assert.deepEqual([qr['pin'], qr['url']], [pin['pin'], rig.url])
  assert.ok(!JSON.stringify(pin).includes(rig.token))

  const phone = await rig.stranger()
  const paired = await phone.call('device.pair', {
    pin: pin['pin'],
    device_name: 'Phone',
    device_type: 'ios',
  })
  const { deviceToken: token, deviceId } = paired
  assert.deepEqual(
    [paired['device_token'], paired['device_id'], paired['expiresAt']],
    [token, deviceId, null],
  )
  assert.equal(paired['host_name'], 'Mac Mini')
  const told = await owner.push('device.paired')
  assert.deepEqual([told['device_id'], told['name'], told['platform']], [deviceId, 'Phone', 'ios'])
  // On the same connection, in the header of another, and in the first message of a third.
  assert.deepEqual(await phone.call('daemon.auth', { token }), { authenticated: true })
  assert.equal((await phone.call('daemon.ping'))['pong'], true)
  const again = await rig.stranger({ authorization: `Bearer ${String(token)}` })
  assert.deepEqual(await again.call('session.list'), [])

  const [device, ...others] = await owner.call<Json[]>('device.list')
  assert.deepEqual(others, [])
  assert.deepEqual([device!['id'], device!['name'], device!['platform']], [deviceId, 'Phone', 'ios'])
  assert.ok(!JSON.stringify(device).includes(String(token)))
  assert.equal((await owner.call('device.rename', { deviceId, name: 'Old phone' }))['ok'], true)
  assert.equal((await owner.call<Json[]>('device.list'))[0]!['name'], 'Old phone')

  assert.equal((await owner.call('device.revoke', { id: deviceId }))['revoked'], true)
  assert.equal(await phone.closed, 1008)
  assert.equal(await again.closed, 1008)
  assert.equal((await owner.push('device.revoked'))['deviceId'], deviceId)
  assert.deepEqual(await owner.call('device.list'), [])
  await assert.rejects(rig.stranger({ authorization: `Bearer ${String(token)}` }), /HTTP 401/)
  for (const method of ['device.revoke', 'device.rename']) {
    assert.equal((await owner.refusal(method, { id: deviceId, name: 'x' })).code, -32020)
  }
})

async function pairDevice(owner: Client, phone: Client, scopes?: string[]): Promise<Json> {
  const { pin } = await owner.call('daemon.pairPin', scopes ? { scopes } : {})
  return phone.call('device.pair', { pin, ...about })
}

test('a PIN works once, and five wrong tries make it void', async (t) => {
  const rig = await rigFor(t)
  const owner = await rig.client()
  const { pin } = await owner.call('daemon.pairPin')
  const phone = await rig.stranger()
  await phone.call('device.pair', { pin })
  assert.equal((await phone.refusal('device.pair', { pin, ...about })).code, -32021)
  const fresh = (await owner.call('daemon.pairPin'))['pin'] as string
  const wrong = fresh === '100000' ? '100001' : '100000'
  for (let n = 0; n < 5; n++) {
    const stranger = await rig.stranger()
    assert.equal((await stranger.refusal('device.pair', { pin: wrong, ...about })).code, -32021)
  }
  const late = await rig.stranger()
  assert.equal((await late.refusal('device.pair', { pin: fresh, ...about })).code, -32021)
})

test('a stranger may try five times, then it has to go', async (t) => {
  const rig = await rigFor(t)
  const stranger = await rig.stranger()
  for (let n = 0; n < 5; n++) await stranger.refusal('device.pair', { pin: '000000', ...about })
  stranger.ws.send('{"jsonrpc":"2.0","id":9,"method":"device.pair","params":{"pin":"000000"}}')
  assert.equal(await stranger.closed, 1008)
})

test('a PIN that is too old is -32022', async (t) => {
  const rig = await rigFor(t, { pinTtlMs: 20 })
  const owner = await rig.client()
  const { pin } = await owner.call('daemon.pairPin')
  const madeBefore = Date.now()
  while (Date.now() <= madeBefore + 20) await owner.call('daemon.ping')
  const phone = await rig.stranger()
  assert.equal((await phone.refusal('device.pair', { pin, ...about })).code, -32022)
  assert.equal((await phone.refusal('device.pair', { ...about })).code, -32602)
  assert.equal((await phone.refusal('device.pair', { pin: '123456', platform: 'toaster' })).code, -32602)
})

test('a device uses sessions but manages no others, unless it was let in to do so', async (t) => {
  const rig = await rigFor(t)
  const owner = await rig.client()
  const [phone, tablet] = [await rig.stranger(), await rig.stranger()]
  const first = await pairDevice(owner, phone)
  const second = await pairDevice(owner, tablet, ['use', 'manage'])
  await phone.call('daemon.auth', { token: first['deviceToken'] })
  await tablet.call('daemon.auth', { token: second['deviceToken'] })
  const sessionId = await rig.session(phone)
  await phone.turn(sessionId, '[[say hi]]')
  const forbidden: [string, Json][] = [
    ['daemon.pairPin', {}],
    ['device.revoke', { id: second['deviceId'] }],
    ['device.rename', { id: second['deviceId'], name: 'x' }],
    ['daemon.setName', { name: 'x' }],
    ['daemon.applyUpdate', {}],
  ]
  for (const [method, params] of forbidden)
    assert.equal((await phone.refusal(method, params)).code, -32004, method)
  await phone.call('device.rename', { id: first['deviceId'], name: 'Mine' })
  await tablet.call('daemon.pairPin')
  await tablet.call('device.revoke', { id: first['deviceId'] })
  assert.equal(await phone.closed, 1008)
})
