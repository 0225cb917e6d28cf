import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIdOf } from '../../../src/dialects/humanlayer/ids.ts'
import { until } from '../../support/wait.ts'
import { serve, SHARED, type Json, type Raw, type Served } from './raw.ts'

const CONFIRMED = 'Subscription established. Waiting for events...'

async function subscribe(client: Raw, params?: Json): Promise<Json> {
  client.ask('subscribe', 'Subscribe', params)
  return (await client.next())['result'] as Json
}

interface Told {
  type: string
  seq: number
  data: Json
}

/** The next event; whatever else comes is not expected. */
async function event(client: Raw): Promise<Told> {
  const { result } = (await client.next()) as { result: Json }
  assert.ok(result['event'], JSON.stringify(result))
  return result['event'] as Told
}

async function newSession({ engine: { engine, cwd } }: Served): Promise<string> {
  return (await engine.sessions.create({ agent: 'demo', cwd })).id
}

/** An event that everybody is told of, without any agent. */
async function rename({ engine: { engine } }: Served, sessionId: string, title: string): Promise<void> {
  await engine.sessions.configure({ sessionId, title })
}

test('a subscription is confirmed with the id null, a new name and where the log is', async (t) => {
  const served = await serve(t)
  await newSession(served)
  const client = await served.connect()
  client.ask(5, 'Subscribe', {})
  const { id, result, ...rest } = await client.next()
  const { subscription_id: name, ...more } = result as Json
  assert.match(String(name), /^20\d{12}-[0-9a-f]{16}$/)
  assert.deepEqual(
    { id, more, rest },
    {
      id: null,
      more: { message: CONFIRMED, seq: served.engine.engine.events.head },
      rest: { jsonrpc: '2.0' },
    },
  )
})

test('Subscribe needs no version and no parameters, null is none', async (t) => {
  const served = await serve(t)
  const client = await served.connect()
  const nulls = { event_types: null, session_id: null, run_id: '', since: null }
  for (const request of [{ method: 'Subscribe' }, { method: 'Subscribe', params: null }]) client.send(request)
  client.send({ method: 'Subscribe', params: nulls })
  for (let i = 0; i < 3; i++) assert.equal(((await client.next())['result'] as Json)['message'], CONFIRMED)
  assert.equal(served.subscribers(), 3 + SHARED)
})

test('an event is a result with the id null: type, time, data with both ids, and seq', async (t) => {
  const served = await serve(t)
  const client = await served.connect()
  await subscribe(client)
  const sessionId = await newSession(served)
  await rename(served, sessionId, 'a name')
  const line = await client.next()
  const { event: told } = line['result'] as { event: Told & { timestamp: string } }
  assert.deepEqual(Object.keys(line), ['jsonrpc', 'result', 'id'])
  assert.equal(line['id'], null)
  assert.equal(told.type, 'session_settings_changed')
  assert.equal(told.seq, served.engine.engine.events.head)
  assert.ok(Math.abs(Date.parse(told.timestamp) - Date.now()) < 60_000)
  assert.equal(told.data['session_id'], sessionId)
  assert.equal(told.data['run_id'], runIdOf(sessionId))
  assert.equal(told.data['title'], 'a name')
})

test('a whole turn comes in order: ten subscribers get the very same lines', async (t) => {
  const served = await serve(t)
  const clients = await Promise.all(Array.from({ length: 10 }, () => served.connect()))
  for (const client of clients) await subscribe(client)
  const sessionId = await newSession(served)
  await served.engine.turn(sessionId, '[[say hello]]')
  for (const client of clients) {
    await client.find((line) => JSON.stringify(line).includes('"new_status":"completed"'))
  }
  const [first, ...others] = clients.map(({ lines }) => lines.slice(1))
  for (const lines of others) assert.deepEqual(lines, first)
  const events = first!.map((line) => (JSON.parse(line) as { result: { event: Told } }).result.event)
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map(({ seq }) => seq).toSorted((a, b) => a - b),
  )
  const statuses = events.filter(({ type }) => type === 'session_status_changed')
  assert.deepEqual(
    statuses.map(({ data }) => [data['old_status'], data['new_status']]),
    [
      ['starting', 'running'],
      ['running', 'completed'],
    ],
  )
  assert.ok(events.some(({ data }) => data['content'] === 'hello'))
})

test('filters are joined by and; either kind of id may come in either place', async (t) => {
  const served = await serve(t)
  const [one, other] = [await newSession(served), await newSession(served)]
  const settings = ['session_settings_changed']
  const cases: [params: Json, hears: boolean][] = [
    [{ session_id: one }, true],
    [{ run_id: runIdOf(one) }, true],
    [{ session_id: runIdOf(one) }, true],
    [{ run_id: one }, true],
    [{ session_id: one, run_id: runIdOf(one) }, true],
    [{ session_id: one, run_id: runIdOf(other) }, false],
    [{ session_id: other }, false],
    [{ session_id: 'nobody' }, false],
    [{ event_types: settings }, true],
    [{ event_types: ['new_approval', ...settings], session_id: one }, true],
    [{ event_types: [] }, true],
    [{ event_types: ['new_approval'] }, false],
    [{ event_types: ['of my own making'], session_id: one }, false],
  ]
  const clients = await Promise.all(
    cases.map(async ([params]) => {
      const client = await served.connect()
      await subscribe(client, params)
      return client
    }),
  )
  await rename(served, one, 'told')
  for (const [index, client] of clients.entries()) {
    client.ask('end', 'health')
    const { id } = await client.next()
    assert.equal(id === null, cases[index]![1], JSON.stringify(cases[index]![0]))
  }
})

test('since: what has been is told first, then what happens, each once', async (t) => {
  const served = await serve(t)
  const sessionId = await newSession(served)
  const start = served.engine.engine.events.head
  for (let i = 0; i < 40; i++) await rename(served, sessionId, `title ${i}`)
  const client = await served.connect()
  const { seq } = await subscribe(client, { since: start + 10 })
  assert.equal(seq, start + 10)
  for (let i = 40; i < 60; i++) await rename(served, sessionId, `title ${i}`)
  for (let i = 10; i < 60; i++) {
    const told = await event(client)
    assert.deepEqual([told.seq, told.data['title']], [start + 1 + i, `title ${i}`])
  }
})

test('since what is no longer kept: a gap is told, then what is left', async (t) => {
  const served = await serve(t)
  const sessionId = await newSession(served)
  for (let i = 0; i < 20; i++) await rename(served, sessionId, `title ${i}`)
  const { log, engine } = served.engine
  await log.retain({ eventsBefore: Date.now() + 1000, destroyedBefore: null, limit: 15 })
  const client = await served.connect()
  const { seq } = await subscribe(client, { since: 2 })
  assert.equal(seq, engine.events.oldest - 1)
  const { type, from, to, message } = (await client.next())['result'] as Json
  assert.deepEqual({ type, from, to }, { type: 'gap', from: 2, to: engine.events.oldest - 1 })
  assert.match(String(message), /no longer kept/)
  assert.equal((await event(client)).seq, engine.events.oldest)
})

test('since a future that never came: a gap is told, then what happens', async (t) => {
  const served = await serve(t)
  const sessionId = await newSession(served)
  const { head } = served.engine.engine.events
  const client = await served.connect()
  assert.equal((await subscribe(client, { since: head + 1000 }))['seq'], head)
  const { type, from, to } = (await client.next())['result'] as Json
  assert.deepEqual({ type, from, to }, { type: 'gap', from: head + 1000, to: head })
  await rename(served, sessionId, 'now')
  assert.equal((await event(client)).seq, head + 1)
})

test('a heartbeat comes again and again, whether anything else is told or not', async (t) => {
  const served = await serve(t, { heartbeatMs: 50 })
  const sessionId = await newSession(served)
  const client = await served.connect()
  await subscribe(client)
  const heartbeat = { jsonrpc: '2.0', result: { message: 'Connection alive', type: 'heartbeat' }, id: null }
  for (let beats = 0, n = 0; beats < 3; n++) {
    // One event at a time, each right after the one before: it is never silent for long.
    await rename(served, sessionId, `noise ${n}`)
    for (let line = await client.next(); !('event' in (line['result'] as Json)); line = await client.next()) {
      assert.deepEqual(line, heartbeat)
      beats++
    }
  }
  for (let beats = 0; beats < 2; beats++) assert.deepEqual(await client.next(), heartbeat)
})

test('requests on a subscribed connection are answered, between the events', async (t) => {
  const served = await serve(t)
  const client = await served.connect()
  await subscribe(client)
  client.ask(1, 'launchSession', { query: '[[say hi]]' })
  const launched = await client.find(({ id }) => id === 1)
  const { session_id: sessionId } = launched['result'] as Json
  client.ask(2, 'getSessionState', { session_id: sessionId })
  const state = await client.find(({ id }) => id === 2)
  assert.equal((state['result'] as { session: Json }).session['id'], sessionId)
})

test('Unsubscribe ends one subscription and leaves the others', async (t) => {
  const served = await serve(t)
  const sessionId = await newSession(served)
  const client = await served.connect()
  const first = await subscribe(client)
  const second = await subscribe(client)
  assert.notEqual(first['subscription_id'], second['subscription_id'])
  await rename(served, sessionId, 'twice')
  assert.equal((await event(client)).seq, (await event(client)).seq)

  client.ask(1, 'Unsubscribe', { subscription_id: first['subscription_id'] })
  assert.deepEqual(await client.next(), { jsonrpc: '2.0', result: { success: true }, id: 1 })
  assert.equal(served.subscribers(), 1 + SHARED)
  await rename(served, sessionId, 'once')
  assert.equal((await event(client)).data['title'], 'once')

  for (const [params, message] of [
    [{ subscription_id: first['subscription_id'] }, /^subscription not found: /],
    [{}, /^subscription_id is required$/],
    [{ subscription_id: 5 }, /^invalid request: subscription_id: /],
  ] as const) {
    client.ask(2, 'Unsubscribe', params)
    const { id, error } = (await client.next()) as { id: number; error: { code: number; message: string } }
    assert.deepEqual([id, error.code], [2, -32602])
    assert.match(error.message, message)
  }
})

test('a connection has 64 subscriptions at the most; the next one is refused and nothing else happens', async (t) => {
  const served = await serve(t)
  const client = await served.connect()
  for (let i = 0; i < 64; i++) await subscribe(client)
  client.ask(1, 'Subscribe')
  const { id, error } = (await client.next()) as { id: null; error: { code: number; message: string } }
  assert.deepEqual([id, error.code], [null, -32603])
  assert.match(error.message, /64/)
  client.ask(2, 'health')
  assert.equal((await client.next())['id'], 2)
  assert.equal(served.subscribers(), 64 + SHARED)
})

test('a subscription ends with its connection, half closed or closed', async (t) => {
  const served = await serve(t)
  const half = await served.connect()
  await subscribe(half)
  half.socket.end()
  await half.ended
  await until(() => served.subscribers() === 0, 'the half-closed one is gone')
  const whole = await served.connect()
  await subscribe(whole)
  whole.socket.destroy()
  await until(() => served.subscribers() === 0, 'the closed one is gone')
})

test('a reader that stops reading gets a gap and goes on at the head; others miss nothing', async (t) => {
  const served = await serve(t, { maxLag: 100 })
  const sessionId = await newSession(served)
  const slow = await served.connect()
  const quick = await served.connect()
  await subscribe(slow)
  await subscribe(quick)
  slow.socket.pause()
  const padding = 'x'.repeat(10_000)
  for (let i = 0; i < 300; i++) {
    await rename(served, sessionId, `${i} ${padding}`)
    assert.match(String((await event(quick)).data['title']), new RegExp(`^${i} `))
  }
  slow.socket.resume()
  const { result: gap } = await slow.find(({ result }) => (result as Json)['type'] === 'gap')
  const { from, to, message } = gap as { from: number; to: number; message: string }
  const told = slow.lines.slice(1, -1).map((line) => JSON.parse(line) as { result: { event: Told } })
  assert.equal(told.at(-1)!.result.event.seq, from)
  assert.equal(to, served.engine.engine.events.head)
  assert.ok(to - from > 100)
  assert.match(message, /since/)

  await rename(served, sessionId, 'after')
  assert.deepEqual((await event(slow)).data['title'], 'after')
  const again = await served.connect()
  await subscribe(again, { since: from })
  for (let seq = from + 1; seq <= to; seq++) assert.equal((await event(again)).seq, seq)
})

test('who replays is behind by choice: everything is told, however far back it begins', async (t) => {
  const served = await serve(t, { maxLag: 10 })
  const sessionId = await newSession(served)
  const start = served.engine.engine.events.head
  const padding = 'x'.repeat(5000)
  for (let i = 0; i < 1200; i++) await rename(served, sessionId, `${i} ${padding}`)
  const client = await served.connect()
  await subscribe(client, { since: start })
  for (let i = 0; i < 1200; i++) assert.equal((await event(client)).seq, start + 1 + i)
})
