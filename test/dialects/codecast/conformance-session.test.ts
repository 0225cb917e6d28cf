import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { goOn, HELD, sessionToHold } from '../../support/held.ts'
import { call, create, failure, type Json, post, result, send, textOf, types, whole } from './client.ts'

let daemon: TestDaemon
let base = ''
before(async () => {
  daemon = await startDaemon()
  base = daemon.codecast
})
after(() => daemon.stop())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('session.create', () => {
  test('gives a lower-case UUID and lists the session with its nine keys', async () => {
    const sessionId = await create(base, daemon.project, { mode: 'plan', model: 'demo-2' })
    assert.match(sessionId, UUID)
    const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
    const found = sessions.find((session) => session['sessionId'] === sessionId)!
    const { createdAt, lastActivityAt, ...rest } = found
    assert.deepEqual(rest, {
      sessionId,
      path: daemon.project,
      status: 'idle',
      mode: 'plan',
      cliType: 'demo',
      sdkSessionId: null,
      model: 'demo-2',
    })
    for (const time of [createdAt, lastActivityAt]) assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.equal(sessions[0]?.['sessionId'], sessionId, 'the newest first')
  })

  test('defaults to auto and no model, and takes null for what is not set', async () => {
    for (const params of [{}, { mode: null, model: null }]) {
      const sessionId = await create(base, daemon.project, params)
      const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
      const found = sessions.find((session) => session['sessionId'] === sessionId)!
      assert.deepEqual([found['mode'], found['model']], ['auto', null])
    }
  })

  test('starts no process', async () => {
    await create(base, daemon.project)
    const runs = join(daemon.corralHome, 'runs')
    const sessionId = await create(base, daemon.project)
    assert.ok(!existsSync(join(runs, sessionId)))
  })

  test('a bare name is in ~/Projects, ~ is home, a missing path is an error that names it', async () => {
    mkdirSync(join(daemon.home, 'Projects', 'bare'), { recursive: true })
    for (const [path, expected] of [
      ['bare', join(daemon.home, 'Projects', 'bare')],
      ['~', daemon.home],
      ['~/project', daemon.project],
    ] as const) {
      const sessionId = await create(base, path)
      const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
      assert.equal(sessions.find((session) => session['sessionId'] === sessionId)?.['path'], expected)
    }
    assert.deepEqual(await failure(base, 'session.create', { path: 'gone', cli_type: 'demo' }), {
      code: -32000,
      message: `Path does not exist on remote machine: ${daemon.home}/Projects/gone (resolved from: gone)`,
    })
    writeFileSync(join(daemon.home, 'file'), '')
    const file = await failure(base, 'session.create', { path: '~/file', cli_type: 'demo' })
    assert.deepEqual([file.code, /not a directory/.test(file.message)], [-32000, true])
  })

  test('an agent that is not there is refused clearly, and its project is left alone', async () => {
    const project = join(daemon.home, 'untouched')
    mkdirSync(project)
    mkdirSync(join(daemon.home, '.codecast/skills'), { recursive: true })
    writeFileSync(join(daemon.home, '.codecast/skills/AGENTS.md'), 'x')
    for (const cli of ['nonsense', 'codex']) {
      const { code, message } = await failure(base, 'session.create', { path: project, cli_type: cli })
      assert.equal(code, -32000)
      assert.match(message, new RegExp(cli, 'i'))
    }
    assert.ok(!existsSync(join(project, 'AGENTS.md')))
  })

  test('the same key twice is one session', async () => {
    const first = await create(base, daemon.project, { key: 'create-once' })
    assert.equal(await create(base, daemon.project, { key: 'create-once' }), first)
  })
})

describe('session.send', () => {
  test('streams ping, init, partials, text, result, [DONE] with the headers of the original', async () => {
    const sessionId = await create(base, daemon.project)
    const stream = await send(base, sessionId, '[[words 50]]')
    assert.equal(stream.status, 200)
    assert.equal(stream.headers['content-type'], 'text/event-stream')
    assert.equal(stream.headers['cache-control'], 'no-cache')
    assert.equal(stream.headers['x-accel-buffering'], 'no')
    const events = await stream.rest()
    assert.equal(events[0]?.type, 'ping')
    assert.equal(events[1]?.type, 'system')
    assert.equal(events[1]?.['subtype'], 'init')
    assert.ok(events[1]?.['session_id'])
    assert.equal(textOf(events, 'partial'), textOf(events))
    assert.match(textOf(events), /^w1 w2 .* w50$/)
    assert.deepEqual(types(events).slice(-3), ['text', 'result', '[DONE]'])
    const end = events.at(-2)!
    const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
    const listed = sessions.find((session) => session['sessionId'] === sessionId)
    assert.equal(end['session_id'], listed?.['sdkSessionId'], 'the conversation is kept for the next turn')
    const raw = end['raw'] as Json
    assert.deepEqual([raw['type'], raw['is_error'], typeof raw['usage']], ['result', false, 'object'])
  })

  test('shows tools with input, then output', async () => {
    const sessionId = await create(base, daemon.project)
    const events = await (await send(base, sessionId, '[[shell ls -la]]')).rest()
    const tools = events.filter((event) => event.type === 'tool_use')
    assert.deepEqual(tools[0], { type: 'tool_use', tool: 'Shell', input: { command: 'ls -la' } })
    assert.equal(tools[1]?.['tool'], 'Shell')
    assert.match(String(tools[1]?.['message']), /ls -la/)
  })

  test('thinking is not part of the answer', async () => {
    const sessionId = await create(base, daemon.project)
    const events = await (await send(base, sessionId, '[[think secret]] [[say loud]]')).rest()
    assert.equal(textOf(events), 'loud')
    assert.equal(textOf(events, 'partial'), 'loud')
  })

  test('a conversation goes on in the next turn', async () => {
    const sessionId = await create(base, daemon.project)
    await (await send(base, sessionId, 'please [[remember blue]]')).rest()
    assert.equal(textOf(await (await send(base, sessionId, '[[recall]]')).rest()), 'recall: blue')
  })

  test('an empty message, one of 1 MiB and odd characters go through', async () => {
    const sessionId = await create(base, daemon.project)
    assert.equal(textOf(await (await send(base, sessionId, '')).rest()), 'echo: ')
    const odd = '-x --help \u2028 "\\" 𝄞 \u0001'
    assert.equal(textOf(await (await send(base, sessionId, odd)).rest()), `echo: ${odd}`)
    const long = 'ä€𝄞"'.repeat(105_000)
    const stream = await send(base, sessionId, long)
    const events = await stream.rest()
    assert.equal(textOf(events), `echo: ${long}`)
    assert.ok(stream.longest() < 128 * 1024, `a line of ${stream.longest()} bytes`)
  })

  test('images reach the agent', async () => {
    const sessionId = await create(base, daemon.project)
    const images = [{ mediaType: 'image/png', data: Buffer.from('12345').toString('base64') }]
    const events = await (await send(base, sessionId, '[[attachments]]', { images })).rest()
    assert.equal(textOf(events), 'attachments: 1 image/png/5')
  })

  test('a turn that fails is an error with its cause, and the session goes on', async () => {
    const sessionId = await create(base, daemon.project)
    const events = await (await send(base, sessionId, '[[fail 529]]')).rest()
    assert.deepEqual(types(events).slice(-2), ['error', '[DONE]'])
    assert.match(String(events.at(-2)?.['message']), /529/)
    assert.equal(textOf(await (await send(base, sessionId, '[[say fine]]')).rest()), 'fine')
  })

  test('while busy: queued with its position, then [DONE]', async () => {
    const sessionId = await create(base, daemon.project)
    const first = await send(base, sessionId, '[[hang]]')
    await first.until('system')
    for (const position of [1, 2]) {
      const stream = await send(base, sessionId, '[[say later]]')
      assert.deepEqual(await stream.rest(), [{ type: 'queued', position }, { type: '[DONE]' }])
    }
    const stats = await result(base, 'session.queue_stats', { sessionId })
    assert.deepEqual(stats, { userPending: 2, responsePending: 0, clientConnected: true })
    await result(base, 'session.interrupt', { sessionId })
    assert.deepEqual(types(await first.rest()).slice(-2), ['interrupted', '[DONE]'])
  })

  test('what is null is not set', async () => {
    const sessionId = await create(base, daemon.project, { key: null })
    const nothing = { key: null, images: null, ids: null, follow: null }
    const events = await (await send(base, sessionId, '[[say here]]', nothing)).rest()
    assert.equal(textOf(events), 'here')
    const again = await result(base, 'session.reconnect', { sessionId, after: null })
    assert.deepEqual(again, { bufferedEvents: [] })
  })

  test('who wishes to follow is told the own turn on the same stream', async () => {
    const sessionId = await create(base, daemon.project, { mode: 'ask' })
    const first = await send(base, sessionId, '[[shell first]]')
    await first.until('tool_use')
    const second = await send(base, sessionId, '[[say second]]', { follow: true })
    const third = await send(base, sessionId, '[[say third]]', { follow: true })
    assert.deepEqual(await second.next(), { type: 'queued', position: 1 })
    assert.deepEqual(await third.next(), { type: 'queued', position: 2 })
    const stats = await result(base, 'session.queue_stats', { sessionId })
    assert.deepEqual(stats, { userPending: 2, responsePending: 0, clientConnected: true })
    await result(base, 'session.set_mode', { sessionId, mode: 'auto' })
    const [a, b, c] = [await first.rest(), await second.rest(), await third.rest()]
    assert.match(textOf(a), /first/)
    assert.equal(textOf(b), 'second')
    assert.equal(textOf(c), 'third')
    for (const events of [a, b, c]) assert.deepEqual(types(events).slice(-2), ['result', '[DONE]'])
  })

  test('the same key twice is one message, and both streams tell it from its start', async () => {
    const sessionId = await sessionToHold(daemon)
    const first = await send(base, sessionId, HELD, { key: 'k1' })
    const start = await first.until('tool_use')
    const second = await send(base, sessionId, HELD, { key: 'k1' })
    assert.deepEqual(whole(await second.until('tool_use')), whole(start))
    await goOn(daemon, sessionId, '[[drip 20 20]]')
    const [a, b] = [await first.rest(), await second.rest()]
    assert.match(textOf(a), /^w1 .* w20$/)
    assert.deepEqual(whole(a), whole(b))
    assert.equal(textOf(b, 'partial'), textOf(b))
    const third = await (await send(base, sessionId, 'whatever', { key: 'k1' })).rest()
    assert.equal(textOf(third), textOf(a))
    assert.deepEqual(types(third).slice(-2), ['result', '[DONE]'])
  })

  test('ids are there for those who ask', async () => {
    const sessionId = await create(base, daemon.project)
    const plain = await send(base, sessionId, '[[say a]]')
    await plain.rest()
    assert.deepEqual(plain.ids, [])
    const stream = await send(base, sessionId, '[[say b]]', { ids: true })
    await stream.rest()
    assert.ok(stream.ids.length >= 2)
    assert.deepEqual(
      stream.ids,
      [...stream.ids].sort((x, y) => x - y),
    )
  })
})

describe('interrupt, destroy, modes', () => {
  test('interrupt ends the turn as interrupted and clears the queue', async () => {
    const sessionId = await create(base, daemon.project)
    assert.deepEqual(await result(base, 'session.interrupt', { sessionId }), { ok: true, interrupted: false })
    const running = await send(base, sessionId, '[[drip 100000 20]]')
    await running.until('partial')
    const queued = await send(base, sessionId, '[[say never]]', { follow: true })
    await queued.until('queued')
    assert.deepEqual(await result(base, 'session.interrupt', { sessionId }), { ok: true, interrupted: true })
    assert.deepEqual(types(await running.rest()).slice(-2), ['interrupted', '[DONE]'])
    const cancelled = await queued.rest()
    assert.deepEqual(types(cancelled), ['interrupted', '[DONE]'])
    const stats = await result(base, 'session.queue_stats', { sessionId })
    assert.equal(stats['userPending'], 0)
    assert.equal(textOf(await (await send(base, sessionId, '[[say on]]')).rest()), 'on')
  })

  test('destroy ends the stream and the session', async () => {
    const sessionId = await create(base, daemon.project)
    const stream = await send(base, sessionId, '[[hang]]')
    await stream.until('system')
    assert.deepEqual(await result(base, 'session.destroy', { sessionId }), { ok: true })
    const events = await stream.rest()
    assert.deepEqual(types(events).slice(-2), ['interrupted', '[DONE]'])
    assert.deepEqual(await result(base, 'session.destroy', { sessionId }), { ok: false })
    assert.deepEqual(await result(base, 'session.reconnect', { sessionId }), { bufferedEvents: [] })
    const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
    assert.ok(!sessions.some((session) => session['sessionId'] === sessionId))
  })

  test('mode and model hold from the next message, and a model can be cleared', async () => {
    const sessionId = await create(base, daemon.project)
    const view = async (): Promise<Json> => {
      const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
      return sessions.find((session) => session['sessionId'] === sessionId)!
    }
    for (const mode of ['code', 'plan', 'ask', 'auto']) {
      assert.deepEqual(await result(base, 'session.set_mode', { sessionId, mode }), { ok: true })
      assert.equal((await view())['mode'], mode)
    }
    assert.deepEqual(await result(base, 'session.set_model', { sessionId, model: 'demo-3' }), { ok: true })
    assert.equal((await view())['model'], 'demo-3')
    const none = await failure(base, 'session.set_model', { sessionId })
    assert.deepEqual(none, { code: -32602, message: 'Missing required param: model' })
    assert.equal((await failure(base, 'session.set_model', { sessionId, model: 3 })).code, -32602)
    assert.equal((await view())['model'], 'demo-3', 'which changed nothing')
    assert.deepEqual(await result(base, 'session.set_model', { sessionId, model: null }), { ok: true })
    assert.equal((await view())['model'], null)
    await result(base, 'session.set_mode', { sessionId, mode: 'plan' })
    const events = await (await send(base, sessionId, '[[shell touch x]]')).rest()
    assert.match(String(events.find((event) => 'message' in event)?.['message']), /plan mode/)
  })

  test('resume takes the conversation that it is given', async () => {
    const first = await create(base, daemon.project)
    const end = (await (await send(base, first, '[[remember green]]')).rest()).at(-2)!
    await result(base, 'session.destroy', { sessionId: first })
    const second = await create(base, daemon.project)
    const params = { sessionId: second, sdkSessionId: end['session_id'] }
    assert.deepEqual(await result(base, 'session.resume', params), { ok: true, fallback: false })
    assert.deepEqual(await result(base, 'session.resume', { sessionId: second }), {
      ok: true,
      fallback: false,
    })
    assert.equal(textOf(await (await send(base, second, '[[recall]]')).rest()), 'recall: green')
  })
})

describe('health.check and monitor.sessions', () => {
  test('health has the fields of the specification and of the original', async () => {
    const { text } = await post(base, '{"method":"health.check","params":{}}')
    assert.ok(text.includes('"ok":true'))
    const health = (JSON.parse(text) as { result: Json }).result
    const { sessions } = await result<{ sessions: unknown[] }>(base, 'session.list')
    assert.equal(health['sessions'], sessions.length)
    const byStatus = health['sessionsByStatus'] as Record<string, number>
    assert.deepEqual(Object.keys(byStatus), ['idle', 'busy', 'error', 'destroyed'])
    assert.equal(
      Object.values(byStatus).reduce((sum, count) => sum + count),
      sessions.length,
    )
    for (const name of ['rss', 'heapUsed', 'heapTotal']) {
      assert.ok(Number.isInteger((health['memory'] as Json)[name]), name)
    }
    assert.ok(Number.isInteger(health['uptime']))
    assert.equal(health['pid'], daemon.pid)
    assert.match(String(health['version']), /^\d+\.\d+\.\d+$/)
    for (const name of ['rustVersion', 'nodeVersion', 'corralVersion'])
      assert.equal(typeof health[name], 'string')
  })

  test('monitor has every session with its queue', async () => {
    const sessionId = await create(base, daemon.project)
    const running = await send(base, sessionId, '[[drip 100000 20]]')
    await running.until('partial')
    const queued = await send(base, sessionId, 'later')
    await queued.until('queued')
    const monitor = await result<{ sessions: Json[]; totalSessions: number; uptime: number }>(
      base,
      'monitor.sessions',
    )
    assert.equal(monitor.totalSessions, monitor.sessions.length)
    assert.ok(Number.isInteger(monitor.uptime))
    const found = monitor.sessions.find((session) => session['sessionId'] === sessionId)!
    assert.equal(found['status'], 'busy')
    assert.equal(found['cliType'], 'demo')
    assert.deepEqual(found['queue'], { userPending: 1, responsePending: 0, clientConnected: true })
    await result(base, 'session.destroy', { sessionId })
  })

  test('all sessions are listed, however many there are', async () => {
    const before = (await result<{ sessions: unknown[] }>(base, 'session.list')).sessions.length
    await Promise.all(Array.from({ length: 230 }, () => create(base, daemon.project)))
    const { sessions } = await result<{ sessions: Json[] }>(base, 'session.list')
    assert.equal(sessions.length, before + 230)
    assert.equal(new Set(sessions.map((session) => session['sessionId'])).size, sessions.length)
  })
})

describe('skills', () => {
  test('a project gets the skills of the user when a claude session is made, or nothing at all', async () => {
    // Whether claude is installed here or not: either the session is made and the file copied, or neither.
    const project = join(daemon.home, 'skilled')
    mkdirSync(project)
    mkdirSync(join(daemon.home, '.codecast/skills'), { recursive: true })
    writeFileSync(join(daemon.home, '.codecast/skills/CLAUDE.md'), 'be kind')
    const answer = await call(base, 'session.create', { path: project })
    const copied = existsSync(join(project, 'CLAUDE.md'))
    assert.equal('result' in answer, copied)
    if (copied) assert.equal(readFileSync(join(project, 'CLAUDE.md'), 'utf8'), 'be kind')
  })
})
