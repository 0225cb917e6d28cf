import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { goOn, HELD, sessionToHold } from '../../support/held.ts'
import { askUntil } from '../../support/wait.ts'
import { create, type Json, result, send, textOf, types } from './client.ts'

/** Of the tests that want nothing special of it; there is one again when they are over. */
let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

test('the port file has the port, and goes with the daemon', async (t) => {
  const path = join(daemon.home, '.codecast/daemon.port')
  assert.equal(readFileSync(path, 'utf8'), new URL(daemon.codecast).port)
  assert.equal(await daemon.terminate(), 0)
  t.after(() => daemon.restart())
  assert.ok(!existsSync(path))
})

test('DAEMON_PORT is honoured, and a port that is taken gives way to the next', async (t) => {
  const blocker = createServer()
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
  const { port } = blocker.address() as { port: number }
  const daemon = await startDaemon({ env: { CORRAL_CODECAST_PORT: '', DAEMON_PORT: String(port) } })
  t.after(async () => {
    await daemon.stop()
    blocker.close()
  })
  const got = Number(new URL(daemon.codecast).port)
  assert.ok(got > port && got <= port + 100, `${got}`)
  assert.equal((await result(daemon.codecast, 'health.check'))['ok'], true)
})

test('bound to localhost or ::1 it is reached there', async (t) => {
  for (const bind of ['localhost', '::1']) {
    const daemon = await startDaemon({ env: { DAEMON_BIND: bind } })
    t.after(() => daemon.stop())
    if (!daemon.codecast) return t.skip(`${bind} is not there`)
    assert.equal((await result(daemon.codecast, 'health.check'))['ok'], true, bind)
  }
})

test('after kill -9 in the middle of a turn, the turn goes on and reconnect has all of it', async () => {
  const sessionId = await sessionToHold(daemon)
  const stream = await send(daemon.codecast, sessionId, HELD)
  const queued = await send(daemon.codecast, sessionId, '[[say after]]')
  await queued.until('queued')
  // Gone for the daemon, too: what it had sent to the last byte before it was killed would not be returned.
  stream.cut()
  await askUntil(
    () => result(daemon.codecast, 'session.queue_stats', { sessionId }),
    (stats) => stats['clientConnected'] === false,
  )
  await goOn(daemon, sessionId, '[[drip 60 20]]')
  await daemon.kill9()
  await daemon.restart()
  const stats = await result(daemon.codecast, 'session.queue_stats', { sessionId })
  assert.equal(stats['clientConnected'], false)
  const seen: Json[] = []
  await askUntil(
    async () => {
      const answer = await result<{ bufferedEvents: Json[] }>(daemon.codecast, 'session.reconnect', {
        sessionId,
      })
      seen.push(...answer.bufferedEvents)
      return seen.filter((event) => event['type'] === 'result').length
    },
    (results) => results === 2,
  )
  const texts = seen.filter((event) => event['type'] === 'text').map((event) => String(event['content']))
  assert.match(texts[0] ?? '', /^w1 .* w60$/)
  assert.equal(texts[1], 'after')
  assert.equal(textOf(await (await send(daemon.codecast, sessionId, '[[say on]]')).rest()), 'on')
})

test('when the daemon is told to stop, open streams end properly', async (t) => {
  const daemon = await startDaemon({ env: { CORRAL_STOP_GRACE_MS: '0' } })
  t.after(() => daemon.stop())
  const sessionId = await create(daemon.codecast, daemon.project)
  const stream = await send(daemon.codecast, sessionId, '[[drip 100000 20]]')
  await stream.until('partial')
  const ended = daemon.terminate()
  const events = await stream.rest()
  assert.equal(types(events).at(-1), '[DONE]')
  assert.ok(['interrupted', 'error'].includes(types(events).at(-2) ?? ''))
  assert.equal(await ended, 0)
})

test('a client that goes with most of a burst unread gets all of it from reconnect, although it was all sent', async () => {
  const sessionId = await create(daemon.codecast, daemon.project)
  const { hostname, port } = new URL(daemon.codecast)
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({
    method: 'session.send',
    params: { sessionId, message: '[[burst 20000 20]]' },
  })
  socket.write(
    `POST /rpc HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await once(socket, 'data')
  socket.pause()
  await askUntil(
    () => result<{ sessions: { sessionId: string; status: string }[] }>(daemon.codecast, 'session.list'),
    ({ sessions }) => sessions.find((one) => one.sessionId === sessionId)?.status === 'idle',
  )
  socket.resetAndDestroy()
  const { bufferedEvents } = await askUntil(
    () =>
      result<{ bufferedEvents: { type: string; content?: string }[] }>(daemon.codecast, 'session.reconnect', {
        sessionId,
      }),
    (answer) => answer.bufferedEvents.length > 0,
  )
  assert.equal(bufferedEvents.at(-1)?.type, 'result')
  const text = bufferedEvents.flatMap((event) => (event.type === 'text' ? [event.content] : [])).join('')
  assert.equal(text.length, 20_000 * 20)
})

test('a second daemon leaves the port file to the first one, and takes nothing away when it stops', async (t) => {
  const path = join(daemon.home, '.codecast/daemon.port')
  const before = readFileSync(path, 'utf8')
  const second = await startDaemon({ env: { HOME: daemon.home } })
  t.after(() => second.stop())
  assert.equal(readFileSync(path, 'utf8'), before)
  await second.stop()
  assert.equal(readFileSync(path, 'utf8'), before)
})
