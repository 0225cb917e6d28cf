import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { chatting, type Json, openSse, ownFile, saying, sharedRelay } from './rig.ts'
import { until } from '../../../support/wait.ts'

const relay = await sharedRelay()
const client = relay.anthropic({ sticky: 'observed' })
const say = (text: string) => client.messages.create(saying(`[[say ${text}]]`))
const patch = (body: unknown) =>
  relay.send('PATCH', '/v1/settings', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('the state of things', () => {
  test('health', async () => {
    const { status, body } = await relay.get('/v1/health')
    assert.equal(status, 200)
    assert.deepEqual([body['status'], body['port']], ['healthy', Number(new URL(relay.url).port)])
    assert.ok(Number(body['uptime']) >= 0 && Number(body['sessions']) >= 0)
  })

  test('version', async () => {
    const { body } = await relay.get('/v1/version')
    for (const key of ['platform', 'arch', 'substrate', 'corral'])
      assert.equal(typeof body[key], 'string', key)
    assert.equal(body['ir'], '1.1.16', 'what a client may use, not what the program is called')
    assert.deepEqual([body['agent'], body['builtinToolsEnabled']], ['demo', false])
    assert.ok(Array.isArray(body['claudeMissing']) && typeof body['claudeAvailable'] === 'boolean')
  })

  test('availability', async () => {
    assert.deepEqual((await relay.get('/v1/availability')).body, { ok: true, missing: [] })
  })

  test('a license that nobody needs', async () => {
    const { body } = await relay.get('/v1/license')
    const license = body['license'] as Json
    assert.deepEqual([body['configured'], license['valid'], license['tier']], [false, true, 'self-hosted'])
    for (const key of [
      'features',
      'usageThisMonth',
      'usageCap',
      'capExceeded',
      'lastCapChange',
      'topUpGrants',
    ]) {
      assert.ok(key in license, key)
    }
    const refreshed = (await relay.post('/v1/license/refresh')).body
    assert.deepEqual({ ...refreshed, refreshedAt: 0 }, { ...body, refreshedAt: 0 })
    assert.ok(Number(refreshed['refreshedAt']) >= Number(body['refreshedAt']))
  })
})

describe('recent calls', () => {
  test('have what the call was and what it took', async () => {
    const message = await say('x')
    const call = (await relay.calls()).at(-1)!
    assert.equal(`msg_${String(call['id']).replaceAll('-', '')}`, message.id)
    assert.deepEqual(
      [
        call['session_id'],
        call['model'],
        call['status'],
        call['error'],
        call['provider'],
        call['stop_reason'],
      ],
      ['observed', 'claude-sonnet-4-6', 'success', null, 'demo', 'end_turn'],
    )
    assert.deepEqual(
      [call['input_tokens'], call['output_tokens']],
      [message.usage.input_tokens, message.usage.output_tokens],
    )
    assert.ok(Number(call['completed_at']) >= Number(call['started_at']))
    assert.ok(Number(call['cost_avoided_usd']) > 0)
  })

  test('are those of either shape', async () => {
    const { id } = await relay.openai({ sticky: 'observed' }).chat.completions.create(chatting('[[say x]]'))
    const call = (await relay.calls()).at(-1)!
    assert.deepEqual([`chatcmpl-${String(call['id'])}`, call['model']], [id, 'gpt-4o'])
  })

  test('can be paged', async () => {
    await say('y')
    const all = await relay.calls()
    const newest = (await relay.get('/v1/recent-calls?limit=2')).body['calls']
    assert.deepEqual(newest, all.slice(-2))
    for (const after of [all[0]!['id'], all[0]!['seq']]) {
      const page = (await relay.get(`/v1/recent-calls?after=${String(after)}&limit=1`)).body['calls']
      assert.deepEqual(page, all.slice(1, 2))
    }
    assert.deepEqual((await relay.get('/v1/recent-calls?limit=0')).body['calls'], [])
  })

  test('are in a file that is nobody else’s, without what was said', async () => {
    await say('SECRETWORD')
    const path = ownFile(relay, 'recent-calls.jsonl')
    await until(() => readFileSync(path, 'utf8').trim().split('\n').length >= 4)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.ok(!readFileSync(path, 'utf8').includes('SECRETWORD'))
  })

  test('can be cleared, in memory and in the file', async () => {
    assert.deepEqual((await relay.post('/v1/recent-calls/clear')).body, { ok: true })
    assert.deepEqual(await relay.calls(), [])
    assert.equal(readFileSync(ownFile(relay, 'recent-calls.jsonl'), 'utf8'), '')
  })
})

describe('the activity stream', () => {
  test('tells of each call as it is over, in both spellings', async () => {
    const stream = await openSse(`${relay.url}/v1/activity/stream`)
    const message = await say('live')
    const { event, id, data } = await stream.next()
    stream.close()
    assert.equal(event, 'call')
    assert.ok(id)
    assert.equal(`msg_${String(data['id']).replaceAll('-', '')}`, message.id)
    assert.deepEqual(
      [data['sessionId'], data['session_id'], data['status']],
      ['observed', 'observed', 'success'],
    )
    assert.equal(data['outputTokens'], message.usage.output_tokens)
    assert.ok(Number(data['costAvoidedUsd']) > 0)
    assert.deepEqual([data['promptPreview'], data['rawTranscript'], data['error']], [null, null, null])
  })

  test('tells of calls that fail', async () => {
    const stream = await openSse(`${relay.url}/v1/activity/stream`)
    await assert.rejects(client.messages.create(saying('[[fail 401]]')))
    const { data } = await stream.next()
    stream.close()
    assert.deepEqual([data['status'], data['costAvoidedUsd']], ['error', 0])
    assert.match(String(data['error']), /401/)
  })

  test('goes on where its reader was', async () => {
    const first = await openSse(`${relay.url}/v1/activity/stream`)
    await say('one')
    const { id } = await first.next()
    first.close()
    const [two, three] = [await say('two'), await say('three')]
    const again = await openSse(`${relay.url}/v1/activity/stream`, { 'last-event-id': id! })
    const missed = [await again.next(), await again.next()]
    again.close()
    assert.deepEqual(
      missed.map(({ data }) => `msg_${String(data['id']).replaceAll('-', '')}`),
      [two.id, three.id],
    )
  })

  test('has what was said for those who want it kept', async () => {
    await patch({ storePrompts: true })
    const stream = await openSse(`${relay.url}/v1/activity/stream`)
    await say('kept')
    const { data } = await stream.next()
    stream.close()
    assert.deepEqual([data['promptPreview'], data['rawTranscript']], ['[[say kept]]', 'kept'])
    await patch({ storePrompts: false })
  })
})

describe('events', () => {
  const events = async (query = ''): Promise<Json[]> =>
    (await relay.get(`/v1/events${query}`)).body['events'] as Json[]

  test('tell of turns and sessions, with numbers that grow', async () => {
    await relay.send('DELETE', '/v1/sessions/observed')
    await say('x')
    const list = await events()
    const types = list.map(({ type }) => type)
    for (const type of ['turn.started', 'turn.finished', 'session.created', 'session.reset']) {
      assert.ok(types.includes(type), type)
    }
    const ids = list.map(({ id }) => Number(id))
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(ids).size, ids.length)
  })

  test('can be read on', async () => {
    const list = await events()
    assert.deepEqual(await events(`?after=${String(list.at(-3)!['id'])}`), list.slice(-2))
    assert.deepEqual(await events('?limit=1'), list.slice(-1))
  })

  test('come as a stream to those who want one', async () => {
    const stream = await openSse(`${relay.url}/v1/events`, { accept: 'text/event-stream' })
    await say('x')
    const started = await stream.next()
    stream.close()
    assert.deepEqual([started.event, started.data['sessionId']], ['turn.started', 'observed'])
  })

  test('can be cleared', async () => {
    assert.deepEqual((await relay.post('/v1/events/clear')).body, { ok: true })
    assert.deepEqual(await events(), [])
  })
})

const KEY = 'ir_live_0123456789abcdWXYZ'
const API_KEY = 'sk-upstream-very-secret-9876'
const upstream = { name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:9', apiKey: API_KEY }

describe('settings', () => {
  test('have every key redacted to its end', async () => {
    const { status, body } = await patch({ licenseKey: KEY, upstreams: [upstream] })
    assert.equal(status, 200)
    assert.equal(body['licenseKey'], '••••••••WXYZ')
    assert.equal((body['upstreams'] as Json[])[0]!['apiKey'], '••••••••9876')
    assert.deepEqual((await relay.get('/v1/settings')).body, body)
  })

  test('are in a file that is nobody else’s', () => {
    const path = ownFile(relay, 'settings.json')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal((JSON.parse(readFileSync(path, 'utf8')) as Json)['licenseKey'], KEY)
  })

  test('stay what they are when they come back as they were shown', async () => {
    const { body } = await relay.get('/v1/settings')
    assert.equal((await patch(body)).status, 200)
    const kept = JSON.parse(readFileSync(ownFile(relay, 'settings.json'), 'utf8')) as Json
    assert.equal(kept['licenseKey'], KEY)
    assert.equal((kept['upstreams'] as Json[])[0]!['apiKey'], API_KEY)
  })

  test('name what is wrong with them, and nothing is changed', async () => {
    const before = (await relay.get('/v1/settings')).body
    for (const [body, field] of [
      [{ nonsense: 1 }, /nonsense/],
      [{ poolSize: -1 }, /poolSize/],
      [{ workingDir: '/no/such/place' }, /workingDir/],
      [{ workingDir: 'relative' }, /workingDir/],
      [{ agent: 'nobody' }, /agent/],
      [{ licenseUrl: 'http://example.com' }, /licenseUrl/],
      [{ upstreams: [upstream, upstream] }, /upstreams/],
      [[], /object/],
    ] as const) {
      const answer = await patch(body)
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.match(String(answer.body['error']), field)
    }
    assert.deepEqual((await relay.get('/v1/settings')).body, before)
  })

  test('change prices and models', async () => {
    await patch({ prices: { 'my-model': { input: 1_000_000, output: 0 } } })
    const ids = ((await relay.get('/v1/models')).body['data'] as Json[]).map(({ id }) => id)
    assert.ok(ids.includes('my-model'))
    const asked = { ...saying('[[say x]]'), model: 'my-model' }
    const { usage } = await client.messages.create(asked)
    assert.equal((await relay.calls()).at(-1)!['cost_avoided_usd'], usage.input_tokens)
  })
})

test('the debug bundle has no secret, whatever was said', async () => {
  await patch({ storePrompts: true })
  await client.messages.create(saying(`[[say the key is ${KEY} and ${API_KEY}]]`))
  await assert.rejects(client.messages.create({ ...saying('[[fail 400]]'), model: API_KEY }))
  const { status, body } = await relay.get('/v1/debug-bundle')
  assert.equal(status, 200)
  for (const key of ['version', 'settings', 'license', 'pool', 'recent_calls_count'])
    assert.ok(key in body, key)
  const text = JSON.stringify(body)
  for (const secret of [KEY, API_KEY]) assert.ok(!text.includes(secret), secret)
  const kept = readFileSync(ownFile(relay, 'recent-calls.jsonl'), 'utf8')
  assert.ok(!kept.includes(KEY), 'nor do the records')
})
