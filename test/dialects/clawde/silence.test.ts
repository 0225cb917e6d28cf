import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closeCode, masked, openRaw, PING, TEXT } from '../../support/raw-websocket.ts'
import { until } from '../../support/wait.ts'
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
  let look = (): void => {}
  const beat = (given: () => void): (() => void) => {
    look = given
    return () => {}
  }
  const rig = await rigFor(t, { parts: { timing: { beat, lagMs: 3_600_000 } } })
  const talking = await rig.client()
  const answering = await rig.client()
  const headers = { authorization: `Bearer ${rig.token}` }
  const gone = await openRaw(t, rig.port, { headers })
  const full = await openRaw(t, rig.port, { headers })
  full.socket.pause()
  const sessionId = await rig.session(talking)
  const turns = 12
  const text = `[[say ok]] ${'x'.repeat(2 * 1024 ** 2)}`
  for (let n = 0; n < turns; n++) await talking.turn(sessionId, text)
  let isGone = false
  gone.socket.on('close', () => (isGone = true))
  await until(async () => {
    look()
    // Once until the ping has come, and once until its answer has.
    for (let rounds = 0; rounds < 2; rounds++) await talking.call('daemon.ping')
    return isGone
  }, 'who has vanished is given up')
  assert.equal(await closeCode(gone), null)
  const ended = new Promise((resolve) => full.socket.on('close', resolve))
  full.socket.resume()
  await ended
  assert.ok(full.socket.bytesRead < turns * text.length, 'it was given up before it had all')
  for (const client of [talking, answering]) assert.equal((await client.call('daemon.ping'))['pong'], true)
})
