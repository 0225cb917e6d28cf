import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { test } from 'node:test'
import { jsonOf, sendJson, serve } from '../../../relay/servers.ts'
import { nobodyLeft, saying, startRelay } from './rig.ts'

test('a call that cannot be counted is refused, and takes nobody’s place', async () => {
  const relay = await startRelay({ env: { CORRAL_RELAY_MAX_ACTIVE: '1' } })
  const authority = await serve(async (req, res) => {
    await jsonOf(req)
    sendJson(res, 200, { valid: true, usageCap: 100 })
  })
  await relay.send('PATCH', '/v1/settings', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ licenseUrl: authority.url, licenseKey: 'ir_live_0123456789abcd' }),
  })
  // Where the count is written first there is a directory: nothing can be written there.
  const draft = `${relay.daemon.corralHome}/relay/usage.json.${relay.daemon.pid}`
  mkdirSync(draft)
  for (const sticky of ['a', 'a', 'b']) {
    const { status } = await relay.post('/v1/messages', saying('[[say hi]]'), { 'x-ir-session-id': sticky })
    assert.equal(status, 503)
  }
  rmdirSync(draft)
  const { status } = await relay.post('/v1/messages', saying('[[say hi]]'))
  assert.equal(status, 200)
  await nobodyLeft(relay, 2)
})

test('a call whose session cannot be written down is refused, and answered when it can', async () => {
  const relay = await startRelay()
  const named = { 'x-ir-session-id': 'full' }
  // Where the conversation belongs there is a directory.
  const file = `${createHash('sha256').update('full').digest('hex')}.jsonl`
  const path = `${relay.daemon.corralHome}/relay/sessions/${file}`
  mkdirSync(path, { recursive: true })
  const refused = await relay.post('/v1/messages', saying('[[say hi]]'), named)
  assert.equal(refused.status, 503)
  assert.match(String(refused.body['error']), /cannot be written down/)
  rmdirSync(path)
  const { status } = await relay.post('/v1/messages', saying('[[say hi]]'), named)
  assert.equal(status, 200)
  await nobodyLeft(relay, 1)
})
