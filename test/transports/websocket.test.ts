import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { textFrame } from '../../src/transports/frames.ts'
import { HttpError } from '../../src/transports/http-message.ts'
import { every } from '../../src/transports/websocket.ts'
import { closeCode, masked, openRaw, PING, TEXT } from '../support/raw-websocket.ts'
import { until } from '../support/wait.ts'
import { echo, knock, listen, open, type Client } from './websocket-support.ts'

const KIB = 1024

/** Bytes outside of the heap that somebody holds. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().arrayBuffers
}

/** Whatever was sent before on another connection has been seen by then, if it is looked at. */
async function roundTrips({ ws }: Client): Promise<void> {
  for (let n = 0; n < 10; n++) {
    ws.ping()
    await once(ws, 'pong')
  }
}

test('answers come in the order of the requests, and what one chunk asks is answered in one write', async (t) => {
  const { port } = await listen(t)
  const raw = await openRaw(t, port)
  let chunks = 0
  raw.socket.on('data', () => (chunks += 1))
  const asked = Array.from({ length: 100 }, (_, index) => `request ${index}`)
  raw.socket.write(Buffer.concat(asked.map((text) => masked(TEXT, text))))
  const answered: (string | undefined)[] = []
  while (answered.length < 100) answered.push((await raw.next())?.payload.toString())
  assert.deepEqual(answered, asked)
  assert.equal(chunks, 1)
})

test('own and shared messages of one tick go out in order and in one write', async (t) => {
  const { port, connections } = await listen(t)
  const raws = [await openRaw(t, port), await openRaw(t, port)]
  await until(() => connections.length === 2, 'both are there')
  let chunks = 0
  for (const raw of raws) raw.socket.on('data', () => (chunks += 1))
  const shared = textFrame('for all')
  for (const [index, connection] of connections.entries()) {
    connection.send(`for ${index}`)
    connection.send(shared)
    connection.send(shared)
  }
  for (const [index, raw] of raws.entries()) {
    const texts = [await raw.next(), await raw.next(), await raw.next()].map((f) => f?.payload.toString())
    assert.deepEqual(texts, [`for ${index}`, 'for all', 'for all'])
  }
  assert.equal(chunks, 2)
})

test('a pause holds from the next message on, also within what has come already; then all come in order', async (t) => {
  const seen: string[] = []
  const { port, url, connections } = await listen(t, {
    accept: (connection) => ({
      line(line) {
        seen.push(line.toString())
        if (seen.length === 3) connection.pause()
      },
    }),
  })
  const raw = await openRaw(t, port)
  const other = await open(t, url)
  const sent = ['1', '2', '3', '4', '5', '6']
  raw.socket.write(Buffer.concat(sent.map((text) => masked(TEXT, text))))
  await until(() => seen.length === 3, 'three messages')
  raw.socket.write(masked(TEXT, '7'))
  await roundTrips(other)
  assert.equal(seen.length, 3)
  connections[0]!.resume()
  await until(() => seen.length === 7, 'all messages')
  assert.deepEqual(seen, [...sent, '7'])
})

test('a slow reader is told to stop, is not read from, costs no more than the bound, and goes on', async (t) => {
  const sendLimit = 256 * KIB
  let drained = 0
  let heard = 0
  const { port, url, connections } = await listen(t, {
    sendLimit,
    accept: () => ({ line: () => void (heard += 1), drain: () => void (drained += 1) }),
  })
  const slow = await openRaw(t, port)
  const fast = await open(t, url)
  await until(() => connections.length === 2, 'both are there')
  const [toSlow, toFast] = connections
  slow.socket.pause()
  const before = heldBytes()
  let toldToStop = 0
  for (let index = 0; index < 2000; index++) {
    const frame = textFrame(`${index} `.padEnd(64 * KIB, '.'))
    toFast!.send(frame)
    if (toldToStop === 0 && !toSlow!.send(frame)) toldToStop = index + 1
    await new Promise(setImmediate)
  }
  assert.ok(toldToStop > 0 && toldToStop < 500, `told to stop after ${toldToStop}`)
  assert.equal((await fast.got(2000)).length, 2000)
  await until(() => heldBytes() - before < 2 * KIB * KIB, 'little is held for who does not read')
  slow.socket.write(masked(TEXT, 'are you there?'))
  await roundTrips(fast)
  assert.deepEqual([heard, drained], [0, 0])
  slow.socket.resume()
  for (let index = 0; index < toldToStop; index++) {
    assert.ok((await slow.next())?.payload.toString().startsWith(`${index} `))
  }
  await until(() => heard === 1 && drained === 1, 'room again')
  assert.equal(toSlow!.send('and on'), true)
  assert.equal((await slow.next())?.payload.toString(), 'and on')
})

test('a peer that asks without reading, be it with pings, is not read from any more', async (t) => {
  for (const frame of [masked(PING, 'x'.repeat(125)), masked(TEXT, 'x'.repeat(125))]) {
    const { port } = await listen(t, { sendLimit: 64 * KIB })
    const raw = await openRaw(t, port)
    raw.socket.pause()
    const flood = Buffer.concat(Array.from({ length: 500 }, () => frame))
    let sent = 0
    // Until the server's and the system's buffers are full, in both directions.
    while (raw.socket.write(flood) || raw.socket.writableLength < 1024 * KIB) {
      assert.ok((sent += flood.length) < 256 * KIB * KIB, 'it reads on for ever')
      await new Promise(setImmediate)
    }
  }
})

test('who does not answer a ping is given up; who does, or is not read from, stays', async (t) => {
  const { port, url, sockets, connections } = await listen(t, { beat: every(50) })
  const alive = await open(t, url)
  const held = await openRaw(t, port)
  await until(() => connections.length === 2, 'two are there')
  connections[1]!.pause()
  const dead = await openRaw(t, port)
  assert.equal((await dead.next())?.opcode, 9)
  assert.equal(await closeCode(dead), null)
  await until(() => sockets.connections === 2, 'the dead one is gone')
  let asked = 0
  alive.ws.on('ping', () => (asked += 1))
  await until(() => asked === 3, 'the live one is asked again and again')
  assert.equal(sockets.connections, 2)
  connections[1]!.resume()
  assert.equal(await closeCode(held), null)
  alive.ws.send('here')
  assert.deepEqual(await alive.got(1), ['here'])
})

test('a peer that answered while this process was busy is not given up', async (t) => {
  const answered = new Int32Array(new SharedArrayBuffer(4))
  let asked = 0
  // From its answer to well after the next look at it is due.
  const stall = (before: number): void => {
    Atomics.wait(answered, 0, before)
    for (const end = performance.now() + 50; performance.now() < end;);
  }
  const { url, sockets, connections } = await listen(t, {
    beat: every(20),
    accept(connection, { socket }) {
      const write = socket.write.bind(socket) as (frame: Buffer) => boolean
      socket.write = (frame: Buffer) => {
        if (frame[0] === PING) setImmediate(stall, asked++)
        return write(frame)
      }
      return echo(connection)
    },
  })
  const peer = new Worker(PEER, { eval: true, workerData: { url, answered } })
  t.after(() => peer.terminate())
  await until(() => asked > 2 || sockets.connections < connections.length, 'it is asked again')
  assert.equal(sockets.connections, 1)
})

/** Counts the pings that it has answered. */
const PEER = `
  const { workerData: { url, answered } } = require('node:worker_threads')
  const ws = new (require('ws').WebSocket)(url)
  ws.on('ping', () => {
    Atomics.add(answered, 0, 1)
    Atomics.notify(answered, 0)
  })`

test('a peer that takes nothing of what waits for it is given up', async (t) => {
  const { port, sockets, connections } = await listen(t, { beat: every(100), sendLimit: 64 * KIB })
  const raw = await openRaw(t, port)
  raw.socket.pause()
  await until(() => connections.length === 1, 'it is there')
  while (connections[0]!.send('x'.repeat(64 * KIB))) await new Promise(setImmediate)
  await until(() => sockets.connections === 0, 'it is gone')
})

test('who stays a stranger for too long is sent away, who is admitted is not', async (t) => {
  const { port } = await listen(t, {
    authorize: () => 'stranger',
    admitMs: 80,
    accept: (connection) => ({
      line(line) {
        connection.admit()
        connection.send(`${line.length}`)
      },
    }),
  })
  const admitted = await openRaw(t, port, { also: masked(TEXT, 'me') })
  const raw = await openRaw(t, port)
  assert.equal(await closeCode(raw), 4408)
  admitted.socket.write(masked(TEXT, 'x'.repeat(500 * KIB)))
  assert.deepEqual(
    [await admitted.next(), await admitted.next()].map((frame) => frame?.payload.toString()),
    ['2', `${500 * KIB}`],
  )
})

test('a stranger cannot send much', async (t) => {
  const seen: number[] = []
  const { port } = await listen(t, {
    authorize: () => 'stranger',
    accept: () => ({ line: (line) => void seen.push(line.length) }),
  })
  const raw = await openRaw(t, port)
  raw.socket.write(masked(TEXT, 'x'.repeat(200 * KIB)))
  assert.equal(await closeCode(raw), 1009)
  assert.deepEqual(seen, [])
})

test('of too many strangers the oldest makes room', async (t) => {
  const { port, url } = await listen(t, { authorize: () => 'stranger', maxStrangers: 3 })
  const first = await openRaw(t, port)
  const others = [await open(t, url), await open(t, url), await open(t, url)]
  assert.equal(await closeCode(first), 1013)
  for (const { ws } of others) assert.equal(ws.readyState, ws.OPEN)
})

test('beyond the limit a connection is refused, until another one goes', async (t) => {
  const { url, sockets } = await listen(t, { maxConnections: 2 })
  const clients = [await open(t, url), await open(t, url)]
  assert.equal(await knock(url, {}), 503)
  clients[0]!.ws.close()
  await until(() => sockets.connections === 1, 'one is gone')
  assert.equal(await knock(url, {}), 0)
})

test('foreign pages, foreign names, unknown paths and the unauthorised get an HTTP answer', async (t) => {
  const authorize = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) =>
    headers['x-who'] === 'nobody' ? new HttpError(401, 'Who?', { 'www-authenticate': 'Bearer' }) : 'known'
  const { url, port, connections } = await listen(t, { authorize })
  assert.equal(await knock(url, { origin: 'https://evil.example' }), 403)
  assert.equal(await knock(url, { origin: 'null' }), 403)
  assert.equal(await knock(url, { host: 'evil.example' }), 403)
  assert.equal(await knock(`${url}/elsewhere`, {}), 404)
  assert.equal(await knock(url, { 'x-who': 'nobody' }), 401)
  const refused = await openRaw(t, port, { headers: { 'x-who': 'nobody' } })
  assert.match(refused.head, /www-authenticate: Bearer\r\n/)
  assert.equal((await openRaw(t, port, { headers: { 'sec-websocket-version': '7' } })).status, 400)
  assert.equal((await openRaw(t, port, { headers: { 'sec-websocket-key': 'short' } })).status, 400)
  assert.equal((await openRaw(t, port, { headers: { upgrade: 'h2c' } })).status, 200)
  assert.equal(connections.length, 0)
  assert.equal(await knock(url, { origin: 'http://localhost:5173' }), 0)
})

test('who does not say what it wants in time is cut off', async (t) => {
  const { port } = await listen(t, {}, { handshakeMs: 100 })
  for (const beginning of ['', 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n']) {
    const socket = createConnection({ port, host: '127.0.0.1' })
    t.after(() => socket.destroy())
    socket.resume()
    socket.write(beginning)
    await once(socket, 'close')
  }
})

test('at the end everybody is told 1001, and who does not answer is cut off', async (t) => {
  const { port, url, sockets, connections } = await listen(t, { closeMs: 100 })
  const polite = await open(t, url)
  const raw = await openRaw(t, port)
  const stuck = await openRaw(t, port)
  await until(() => connections.length === 3, 'all are there')
  stuck.socket.pause()
  while (connections[2]!.send('x'.repeat(64 * KIB))) await new Promise(setImmediate)
  connections[1]!.send('the last word')
  await sockets.close()
  assert.equal(await polite.closed, 1001)
  assert.equal((await raw.next())?.payload.toString(), 'the last word')
  assert.equal(await closeCode(raw), 1001)
  assert.equal(sockets.connections, 0)
  assert.equal(await knock(url, {}), 503)
})

test('whoever goes is noticed once, however it goes', async (t) => {
  let gone = 0
  const { port, url } = await listen(t, {
    accept: (connection) => ({ ...echo(connection), closed: () => void (gone += 1) }),
  })
  const polite = await open(t, url)
  polite.ws.close(4000, 'bye')
  assert.equal(await polite.closed, 4000)
  const rude = await openRaw(t, port)
  rude.socket.resetAndDestroy()
  const half = await openRaw(t, port)
  half.socket.end()
  await until(() => gone === 3, 'all are gone')
  await new Promise(setImmediate)
  assert.equal(gone, 3)
})

test('many clients are told many things, all of them, in order', async (t) => {
  const { url, connections } = await listen(t)
  const clients = await Promise.all(Array.from({ length: 200 }, () => open(t, url)))
  await until(() => connections.length === 200, 'all are there')
  for (let round = 0; round < 1000; round++) {
    const frame = textFrame(`event ${round}`)
    for (const connection of connections) connection.send(frame)
    if (round % 50 === 0) await new Promise(setImmediate)
  }
  const expected = Array.from({ length: 1000 }, (_, round) => `event ${round}`)
  for (const client of clients) assert.deepEqual(await client.got(1000), expected)
})
