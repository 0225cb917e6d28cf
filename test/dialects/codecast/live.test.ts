import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Engine } from '../../../src/core/api.ts'
import type { EventQuery } from '../../../src/core/ports.ts'
import { createBookmarks } from '../../../src/dialects/codecast/bookmarks.ts'
import { openListener } from '../../../src/dialects/codecast/listener.ts'
import { type CodecastDialect, codecastDialect } from '../../../src/dialects/codecast/open.ts'
import { replay } from '../../../src/dialects/codecast/replay.ts'
import { readCodecastSettings } from '../../../src/dialects/codecast/settings.ts'
import { createHttpApp } from '../../../src/transports/http.ts'
import { startEngine, type TestEngine } from '../../support/engine.ts'
import { goOn, HELD, sessionToHold } from '../../support/held.ts'
import { askUntil } from '../../support/wait.ts'
import { create, type Json, result, send, textOf, types } from './client.ts'

const silent = { info: () => undefined, warn: () => undefined }
let parts: TestEngine
let dialect: CodecastDialect
let base = ''
const app = createHttpApp()

before(async () => {
  parts = await startEngine()
  dialect = codecastDialect(parts.engine, {
    settings: await readCodecastSettings({ CORRAL_CODECAST_PORT: '0' }, parts.home),
    home: parts.home,
    log: silent,
    corralVersion: '0',
    pingMs: 20,
  })
  dialect.routes(app)
  base = (await dialect.start(app)).url
})
after(async () => {
  await dialect.stop()
  await app.close(0)
  await parts.stop()
})

test('pings come while a turn has nothing to say', async () => {
  const sessionId = await create(base, parts.cwd)
  const stream = await send(base, sessionId, '[[hang]]')
  await stream.until('system')
  for (let i = 0; i < 3; i++) await stream.until('ping')
  await result(base, 'session.interrupt', { sessionId })
  assert.deepEqual(types(await stream.rest()).slice(-2), ['interrupted', '[DONE]'])
})

test('a client that does not read holds nothing up, and gets everything when it does', async () => {
  const sessionId = await create(base, parts.cwd)
  const stream = await send(base, sessionId, '[[burst 30 1048576]]')
  stream.pause()
  await parts.event('turn.completed', { sessionId })
  const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
  assert.equal(
    sessions.find((one) => one['sessionId'] === sessionId)?.['status'],
    'idle',
    'the turn did not wait',
  )
  stream.resume()
  const events = await stream.rest()
  assert.equal(textOf(events).length, 30 * 1024 * 1024)
  assert.deepEqual(types(events).slice(-2), ['result', '[DONE]'])
  assert.ok(stream.longest() < 128 * 1024)
})

test('a replay keeps to its limits and goes on where it stopped', async () => {
  const bookmarks = createBookmarks(parts.engine, silent)
  const session = await parts.engine.sessions.create({ agent: 'demo', cwd: parts.cwd })
  for (const text of ['[[shell a]]', '[[say b]]']) {
    const input = [{ type: 'text' as const, text }]
    const sent = await parts.engine.turns.send({ sessionId: session.id, input, bookmark: 'codecast' })
    await parts.event('turn.completed', { sessionId: session.id, after: sent.seq })
  }
  const whole = replay(parts.engine, bookmarks, session.id)
  assert.equal(whole.more, false)
  const pieces: string[] = []
  let calls = 0
  for (; calls < 100; calls++) {
    const part = replay(parts.engine, bookmarks, session.id, undefined, { events: 2, bytes: 1e6 })
    pieces.push(...part.lines)
    assert.ok(part.lines.length <= 2)
    part.acknowledge()
    if (!part.more) break
  }
  assert.deepEqual(pieces, whole.lines)
  assert.ok(calls > 1)
  assert.equal(bookmarks.connected(session.id), true)
  assert.deepEqual(replay(parts.engine, bookmarks, session.id).lines, [])
})

test('an answer that did not arrive is returned again', async () => {
  const bookmarks = createBookmarks(parts.engine, silent)
  const session = await parts.engine.sessions.create({ agent: 'demo', cwd: parts.cwd })
  await parts.engine.turns.send({
    sessionId: session.id,
    input: [{ type: 'text', text: '[[say x]]' }],
    bookmark: 'codecast',
  })
  await parts.event('turn.completed', { sessionId: session.id })
  const first = replay(parts.engine, bookmarks, session.id)
  assert.deepEqual(replay(parts.engine, bookmarks, session.id).lines, first.lines)
  first.acknowledge()
  assert.deepEqual(replay(parts.engine, bookmarks, session.id).lines, [])
})

test('an end that is committed while the answer is made is in the next answer', async () => {
  const { engine } = parts
  const bookmarks = createBookmarks(engine, silent)
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd: parts.cwd })
  const input = [{ type: 'text' as const, text: '[[say x]]' }]
  await engine.turns.send({ sessionId, input, bookmark: 'codecast' })
  await parts.event('turn.completed', { sessionId })
  let isCommitted = false
  const before: Engine = Object.create(engine, {
    turns: {
      value: {
        ...engine.turns,
        get: (id: string) => ({ ...engine.turns.get(id), ...(!isCommitted && { state: 'running' }) }),
      },
    },
    events: {
      value: {
        ...engine.events,
        read(query: EventQuery) {
          const page = engine.events.read(query)
          const end = isCommitted ? page.length : page.findIndex(({ type }) => type === 'turn.completed')
          isCommitted = true
          return page.slice(0, end)
        },
      },
    },
  }) as Engine
  const first = replay(before, bookmarks, sessionId)
  assert.equal(first.lines.filter((line) => line.includes('"result"')).length, 0)
  first.acknowledge()
  const [last] = replay(engine, bookmarks, sessionId).lines.slice(-1)
  assert.match(last ?? '', /"result"/)
})

test('an address that others reach needs TLS and a token, and a revoked token is refused at once', async () => {
  const home = join(parts.home, 'exposed')
  mkdirSync(join(home, '.codecast'), { recursive: true })
  const tokens = join(home, '.codecast/tokens.yaml')
  writeFileSync(tokens, 'tokens:\n  - token: ccast_good\n')
  // 0.0.0.0 is reached over loopback here; a header as of a proxy makes the caller a stranger.
  const settings = await readCodecastSettings({ CORRAL_CODECAST_PORT: '0', DAEMON_BIND: '0.0.0.0' }, home)
  const listener = await openListener(app, settings, silent, false)
  assert.match(listener.url, /^https:/)

  function status(headers: Record<string, string>): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const body = '{"method":"health.check"}'
    const req = request(
      {
        host: '127.0.0.1',
        port: listener.port,
        path: '/rpc',
        method: 'POST',
        rejectUnauthorized: false,
        agent: false,
      },
      (res) => {
        let text = ''
        res.on('data', (part: Buffer) => (text += part.toString()))
        res.on('end', () => resolve(res.statusCode === 200 ? '200' : `${res.statusCode} ${text}`))
      },
    )
    req.setHeader('content-type', 'application/json')
    for (const [name, value] of Object.entries(headers)) req.setHeader(name, value)
    req.on('error', reject)
    req.end(body)
    return promise
  }
  const stranger = { 'x-forwarded-for': '192.0.2.9' }
  assert.equal(await status({}), '200')
  assert.equal(await status(stranger), '401 Missing Bearer token')
  assert.equal(await status({ ...stranger, authorization: 'Bearer wrong' }), '401 Invalid token')
  assert.equal(await status({ ...stranger, authorization: 'bearer ccast_good' }), '200')
  writeFileSync(tokens, 'tokens: []\n')
  assert.equal(await status({ ...stranger, authorization: 'Bearer ccast_good' }), '401 Invalid token')
  assert.match(await status({ host: 'evil.example' }), /^403/)
  await listener.close(0)
})

test('stopping ends streams with a word, and their turns can be read later', async () => {
  const sessionId = await sessionToHold(parts)
  const stream = await send(base, sessionId, HELD)
  await stream.until('tool_use')
  const stopping = dialect.stop()
  const events = await stream.rest()
  assert.deepEqual(types(events).slice(-2), ['error', '[DONE]'])
  assert.match(String(events.at(-2)?.['message']), /reconnect/)
  await stopping
  base = (await dialect.start(app)).url
  await goOn(parts, sessionId, '[[drip 40 10]]')
  const seen: Json[] = []
  await askUntil(
    async () => {
      const { bufferedEvents } = await result<{ bufferedEvents: Json[] }>(base, 'session.reconnect', {
        sessionId,
      })
      seen.push(...bufferedEvents)
      return seen.at(-1)?.['type']
    },
    (type) => type === 'result',
  )
  assert.match(textOf(seen as never), /^w1 .*w40$/)
})
