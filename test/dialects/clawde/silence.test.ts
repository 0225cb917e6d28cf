import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closeCode, masked, openRaw, PING, TEXT } from '../../support/raw-websocket.ts'
import { rigFor } from './support.ts'

test('who does not say who it is in time has to go with 4408, whatever else it does; who did stays', async (t) => {
  const rig = await rigFor(t, { parts: { timing: { admitMs: 100 } } })
  // It has said who it is with its first bytes: no machine is too slow for that.
  const good = await rig.stranger({ authorization: `Bearer ${rig.token}` })
  const { pin } = await good.call('daemon.pairPin')
  const silent = await openRaw(t, rig.port)
  const pinging = await openRaw(t, rig.port, { also: masked(PING, 'there?') })
  const half = await openRaw(t, rig.port, { also: masked(TEXT, '{"jsonrpc"').subarray(0, 9) })
  for (const raw of [silent, pinging, half]) assert.equal(await closeCode(raw), 4408)
  // A token that was got for a PIN is a word about who it is only when it is shown.
  const pair = { jsonrpc: '2.0', id: 1, method: 'device.pair', params: { pin } }
  const paired = await openRaw(t, rig.port, { also: masked(TEXT, JSON.stringify(pair)) })
  assert.match((await paired.next())!.payload.toString(), /"deviceToken"/)
  assert.equal(await closeCode(paired), 4408)
  await good.call('daemon.ping')
})

test('a peer that has vanished is given up, also one that much waits for; who answers pings stays', async (t) => {
  const rig = await rigFor(t, { parts: { timing: { pingMs: 700 } } })
  const good = await rig.client()
  const headers = { authorization: `Bearer ${rig.token}` }
  const gone = await openRaw(t, rig.port, { headers })
  const full = await openRaw(t, rig.port, { headers })
  full.socket.pause()
  const sessionId = await rig.session(good)
  const text = `[[say ok]] ${'x'.repeat(2 * 1024 ** 2)}`
  for (let n = 0; n < 20; n++) await good.turn(sessionId, text)
  assert.equal(await closeCode(gone), null)
  const ended = new Promise((resolve) => full.socket.on('close', resolve))
  full.socket.resume()
  await ended
  assert.ok(full.socket.bytesRead < 20 * text.length, 'it was given up before it had all')
  assert.equal((await good.call('daemon.ping'))['pong'], true)
})
