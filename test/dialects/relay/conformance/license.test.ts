import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { APIError } from '@anthropic-ai/sdk'
import { jsonOf, sendJson, serve } from '../../../relay/servers.ts'
import { chatting, type Json, ownFile, saying, startRelay, textOf } from './rig.ts'

const KEY = 'ir_live_0123456789abcdWXYZ'
const relay = await startRelay()
const asked: Json[] = []
let answer: Json = { valid: false }
const authority = await serve(async (req, res) => {
  asked.push((await jsonOf(req)) as Json)
  sendJson(res, 200, answer)
})
const hello = saying('[[say hello]]')
const call = (): Promise<{ status: number; body: Json }> =>
  relay.post('/v1/messages', hello, { 'x-ir-session-id': 'license' })

async function patch(body: Json): Promise<void> {
  const { status } = await relay.send('PATCH', '/v1/settings', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.equal(status, 200)
}

test('without one nobody is asked', async () => {
  assert.equal((await call()).status, 200)
  assert.deepEqual(asked, [])
})

test('an invalid one is 402, in the words that clients know', async () => {
  await patch({ licenseUrl: authority.url, licenseKey: KEY, dashboardUrl: 'https://example.com/dashboard' })
  assert.deepEqual(asked, [{ licenseKey: KEY }], 'a new key is checked at once')
  const { status, body } = await call()
  assert.equal(status, 402)
  assert.deepEqual(body, {
    error: 'License invalid',
    code: 'license_invalid',
    dashboardUrl: 'https://example.com/dashboard',
  })
})

test('both SDKs get it in their own envelope, and do not try again', async () => {
  const before = (await relay.calls()).length
  await assert.rejects(relay.anthropic({ maxRetries: 2 }).messages.create(hello), (error) => {
    assert.ok(error instanceof APIError)
    const { error: inner } = error.error as { error: Json }
    assert.deepEqual([error.status, inner['type'], inner['code']], [402, 'billing_error', 'license_invalid'])
    return true
  })
  const other = relay.openai({ maxRetries: 2 })
  await assert.rejects(other.chat.completions.create(chatting('x')), { status: 402, code: 'license_invalid' })
  assert.equal((await relay.calls()).length, before + 2)
})

test('counting tokens needs none', async () => {
  const { status } = await relay.post('/v1/messages/count_tokens', hello)
  assert.equal(status, 200)
})

test('a valid one lets calls pass, and they are counted', async () => {
  answer = { valid: true, tier: 'solo', features: ['streaming'], usageThisMonth: 4998, usageCap: 5000 }
  const { body } = await relay.post('/v1/license/refresh')
  const license = body['license'] as Json
  assert.deepEqual([body['configured'], license['valid'], license['tier']], [true, true, 'solo'])
  assert.deepEqual([license['usageThisMonth'], license['usageCap']], [4998, 5000])
  const message = await relay.anthropic({ sticky: 'license' }).messages.create(hello)
  assert.equal(textOf(message), 'hello')
  const after = (await relay.get('/v1/license')).body['license'] as Json
  assert.equal(after['usageThisMonth'], 4999)
})

test('a call that comes to nothing is not counted', async () => {
  const failing = saying('[[fail 529]]')
  assert.equal((await relay.post('/v1/messages', failing, { 'x-ir-session-id': 'license' })).status, 529)
  assert.equal(((await relay.get('/v1/license')).body['license'] as Json)['usageThisMonth'], 4999)
})

test('the cap holds, over a kill -9 of the daemon as well', async () => {
  await patch({ topUpUrl: 'https://example.com/topup' })
  assert.equal((await call()).status, 200)
  const refused = {
    error: 'Monthly usage cap reached (5001 / 5000). Top up to continue.',
    code: 'cap_exceeded',
    tier: 'solo',
    used: 5001,
    cap: 5000,
    topUpUrl: 'https://example.com/topup',
  }
  for (const when of ['before', 'after']) {
    const { status, body } = await call()
    assert.deepEqual([status, body], [402, refused], when)
    const view = (await relay.get('/v1/license')).body['license'] as Json
    assert.deepEqual([view['capExceeded'], view['usageThisMonth']], [true, 5000])
    if (when === 'after') break
    await relay.daemon.kill9()
    await relay.daemon.restart()
  }
})

test('a larger cap holds when it is asked for', async () => {
  answer = { ...answer, usageThisMonth: 5000, usageCap: 6000, topUpGrants: 1 }
  await relay.post('/v1/license/refresh')
  assert.equal((await call()).status, 200)
})

test('its events are told, its key is not', async () => {
  const { events } = (await relay.get('/v1/events')).body as { events: Json[] }
  assert.ok(events.some(({ type, valid }) => type === 'license.refreshed' && valid === true))
  for (const file of ['license.json', 'usage.json', 'recent-calls.jsonl']) {
    assert.ok(!readFileSync(ownFile(relay, file), 'utf8').includes(KEY), file)
  }
})

test('who turns it off is asked for none', async () => {
  await patch({ licenseUrl: null })
  asked.length = 0
  assert.equal((await call()).status, 200)
  assert.deepEqual(asked, [])
})
