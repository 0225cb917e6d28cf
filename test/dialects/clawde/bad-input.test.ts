import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { BINARY, closeCode, lengthOf, masked, openRaw, PING, TEXT } from '../../support/raw-websocket.ts'
import { dial, type Client, type Json } from './support.ts'

/*
 * What nobody should send, to the real daemon on its real port. One good client is there all the time and notices nothing.
 */

const MiB = 1024 ** 2
const MAX = 16 * MiB
/** An answer to a ping takes less than a millisecond; on a busy machine it may take this long. */
const PATIENCE_MS = 20_000

let daemon: TestDaemon
let url: string
let port: number
let token: string
let good: Client

before(async () => {
  daemon = await startDaemon({ env: { CORRAL_CLAWDE_REQUESTS_PER_SECOND: '0' } })
  url = daemon.listeners['clawde']!
  port = Number(new URL(url).port)
  token = readFileSync(join(daemon.home, '.local/share/clawd/auth_token'), 'utf8')
  good = await dial({ after: () => {} }, url)
  await good.call('daemon.auth', { token })
})
after(async () => {
  good.ws.terminate()
  await daemon.stop()
})

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** The good client is answered, and soon. */
async function unharmed(): Promise<void> {
  const asked = performance.now()
  assert.equal((await good.call('daemon.ping'))['pong'], true)
  const took = performance.now() - asked
  assert.ok(took < PATIENCE_MS, `it waited ${Math.round(took)} ms`)
}

/** Resident, in bytes. */
const memoryOf = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024

const announced = (first: number, length: number): Buffer =>
  Buffer.concat([Buffer.of(first, 0xff), lengthOf(length), Buffer.alloc(4)])

const pieces = (count: number): Buffer =>
  Buffer.concat([masked(0x01, 'a'), ...Array.from({ length: count }, () => masked(0x00, 'a'))])

/** A hundred MiB of nothing, in some hundred KiB. */
const bomb = deflateRawSync(Buffer.alloc(100 * MiB))

const malformed: [what: string, bytes: Buffer, code: number][] = [
  ['a frame without a mask', Buffer.of(TEXT, 2, 0x68, 0x69), 1002],
  ['the first reserved bit', masked(TEXT | 0x40, 'x'), 1002],
  ['the second reserved bit', masked(TEXT | 0x20, 'x'), 1002],
  ['the third reserved bit', masked(TEXT | 0x10, 'x'), 1002],
  ['an opcode for data that means nothing', masked(0x83, 'x'), 1002],
  ['an opcode for control that means nothing', masked(0x8b, 'x'), 1002],
  ['a continuation of nothing', masked(0x80, 'x'), 1002],
  ['a text within a text', Buffer.concat([masked(0x01, 'a'), masked(TEXT, 'b')]), 1002],
  ['a ping in pieces', masked(0x09, 'x'), 1002],
  ['a close frame in pieces', masked(0x08, Buffer.of(0x03, 0xe8)), 1002],
  ['a ping that is too long', masked(PING, 'x'.repeat(126)), 1002],
  ['a close frame with half a code', masked(0x88, 'x'), 1002],
  ['a close frame with 1005', masked(0x88, Buffer.of(0x03, 0xed)), 1002],
  ['a close frame with 999', masked(0x88, Buffer.of(0x03, 0xe7)), 1002],
  ['a close frame with 5000', masked(0x88, Buffer.of(0x13, 0x88)), 1002],
  ['a close frame whose reason is not UTF-8', masked(0x88, Buffer.of(0x03, 0xe8, 0xc3, 0x28)), 1007],
  ['a text that is not UTF-8', masked(TEXT, Buffer.of(0xc3, 0x28)), 1007],
  ['a text with half a surrogate pair', masked(TEXT, Buffer.of(0xed, 0xa0, 0x80)), 1007],
  ['a binary message', masked(BINARY, Buffer.of(1, 2, 3)), 1003],
  ['a message that announces 16 MiB and a byte', announced(TEXT, MAX + 1), 1009],
  ['a message beyond all numbers', announced(TEXT, Number.MAX_SAFE_INTEGER * 1024), 1009],
  ['a message that is too large in pieces', Buffer.concat([masked(0x01, 'a'), announced(0x80, MAX)]), 1009],
]

for (const [what, bytes, code] of malformed) {
  test(`${what}: ${code}, from whoever it comes`, async (t) => {
    for (const headers of [{}, bearer()]) {
      const raw = await openRaw(t, port, { headers })
      raw.socket.write(bytes)
      assert.equal(await closeCode(raw), code)
    }
    await unharmed()
  })
}

test('compression is not agreed on, and what is compressed all the same is not unfolded', async (t) => {
  const offer = 'permessage-deflate; client_max_window_bits'
  const before = memoryOf(daemon.pid)
  for (const headers of [{}, bearer()]) {
    const raw = await openRaw(t, port, { headers: { ...headers, 'sec-websocket-extensions': offer } })
    assert.equal(raw.status, 101)
    assert.doesNotMatch(raw.head, /extensions/i)
    raw.socket.write(masked(TEXT | 0x40, bomb))
    assert.equal(await closeCode(raw), 1002)
  }
  assert.ok(memoryOf(daemon.pid) - before < 50 * MiB)
  await unharmed()
})

test('a message of 16 MiB is read, one byte more is 1009', async (t) => {
  const sized = (length: number): string => {
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 'large',
      method: 'session.sendMessage',
      params: { sessionId: 'none', content: '' },
    })
    return text.replace('"content":""', `"content":"${'x'.repeat(length - text.length)}"`)
  }
  const client = await dial(t, url, bearer())
  client.ws.send(sized(MAX))
  await client.until(() => client.frames.length === 1)
  assert.equal((client.frames[0]!['error'] as Json)['code'], -32001)
  client.ws.send(sized(MAX + 1))
  assert.equal(await client.closed, 1009)
  await unharmed()
})

test('a stranger says little before it has to go', async (t) => {
  const stranger = await dial(t, url)
  stranger.ws.send('x'.repeat(200 * 1024))
  assert.equal(await stranger.closed, 1009)
  await unharmed()
})

test('a message in tens of thousands of pieces ends', async (t) => {
  const raw = await openRaw(t, port, { headers: bearer() })
  raw.socket.write(pieces(20_000))
  assert.equal(await closeCode(raw), 1008)
  await unharmed()
})

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const deepObject = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
const call = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`

const nonsense: [what: string, text: string, code: number, id: unknown][] = [
  ['nothing', '', -32700, null],
  ['no JSON', '{"jsonrpc":"2.0","id":1', -32700, null],
  ['a number', '1', -32600, null],
  ['null', 'null', -32600, null],
  ['a batch', `[${call('daemon.ping', '{}')},${call('daemon.ping', '{}')}]`, -32600, null],
  ['an empty batch', '[]', -32600, null],
  ['a batch that is nested deeply', deep(100_000), -32600, null],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"daemon.ping"}', -32600, null],
  ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":1}', -32600, 1],
  ['a method of every object', call('constructor', '{}'), -32601, 1],
  ['a name of every object', call('__proto__', '{}'), -32601, 1],
  ['parameters that are a text', call('session.get', '"x"'), -32602, 1],
  ['parameters that are nested deeply', call('session.get', deepObject(100_000)), -32602, 1],
  ['one parameter that is nested deeply', call('session.get', `{"sessionId":${deep(100_000)}}`), -32602, 1],
  [
    'permissions that are nested deeply',
    call('session.create', `{"provider":"demo","permissions":{"git":${deepObject(100_000)}}}`),
    0,
    1,
  ],
  ['a prototype for parameters', call('session.get', '{"__proto__":{"sessionId":"x"}}'), -32602, 1],
]

for (const [what, text, code, id] of nonsense) {
  test(`${what}: ${code || 'an answer'}, and the connection stays`, async (t) => {
    const client = await dial(t, url, bearer())
    client.ws.send(text)
    await client.until(() => client.frames.some((frame) => 'id' in frame))
    const answer = client.frames.find((frame) => 'id' in frame) as { id: unknown; error?: Json }
    assert.equal(answer.id, id)
    if (code !== 0) assert.equal(answer.error?.['code'], code)
    assert.notEqual(answer.error?.['code'], -32603)
    await client.call('daemon.ping')
    await unharmed()
  })
}

const first: [what: string, text: string, code: number][] = [
  ['an empty text', '', -32700],
  ['a batch', `[${call('daemon.auth', '{}')}]`, -32004],
  ['a token that is a number', call('daemon.auth', '{"token":1}'), -32004],
  ['a token that is nested deeply', call('daemon.auth', `{"token":${deep(10_000)}}`), -32004],
  ['parameters in a list', call('daemon.auth', '["x"]'), -32004],
  ['another method', call('session.list', '{}'), -32004],
  ['the right token with a method that is not for it', call('daemon.ping', '{"token":"x"}'), -32004],
]

for (const [what, text, code] of first) {
  test(`first of all ${what}: ${code} and 1008`, async (t) => {
    const stranger = await dial(t, url)
    stranger.ws.send(text)
    stranger.ws.send(call('daemon.auth', JSON.stringify({ token })))
    assert.equal(await stranger.closed, 1008)
    assert.equal(stranger.frames.length, 1, 'who was refused is not let in by what comes after')
    assert.equal((stranger.frames[0]!['error'] as Json)['code'], code)
    await unharmed()
  })
}

test('what comes in the same breath as the token is answered after it', async (t) => {
  const raw = await openRaw(t, port, {
    also: Buffer.concat([
      masked(TEXT, call('daemon.auth', JSON.stringify({ token }))),
      masked(TEXT, '{"jsonrpc":"2.0","id":2,"method":"daemon.ping"}'),
    ]),
  })
  const answers = [await raw.next(), await raw.next()].map(
    (frame) => JSON.parse(String(frame?.payload)) as Json,
  )
  assert.deepEqual(
    answers.map(({ id, result }) => [id, Object.keys(result as Json)[0]]),
    [
      [1, 'authenticated'],
      [2, 'pong'],
    ],
  )
})

test('a thousand wrong tokens in a row: each is refused, and the good client is answered in between', async (t) => {
  const wrong = masked(TEXT, call('daemon.auth', '{"token":"0123456789abcdef0123456789abcdef"}'))
  for (let n = 0; n < 1000; n += 50) {
    const strangers = await Promise.all(Array.from({ length: 50 }, () => openRaw(t, port, { also: wrong })))
    const [codes] = await Promise.all([Promise.all(strangers.map(closeCode)), unharmed()])
    assert.deepEqual(new Set(codes), new Set([1008]))
    for (const { socket } of strangers) socket.destroy()
  }
  const knocks = await Promise.all(
    Array.from({ length: 50 }, () => openRaw(t, port, { headers: { authorization: 'Bearer nonsense' } })),
  )
  assert.deepEqual(new Set(knocks.map(({ status }) => status)), new Set([401]))
  await (await dial(t, url)).call('daemon.auth', { token })
})

test('of many who say nothing the first ones make room with 1013, and whoever has a token comes in', async (t) => {
  const silent = await Promise.all(Array.from({ length: 140 }, () => openRaw(t, port)))
  const first = await Promise.race(silent.map(closeCode))
  assert.equal(first, 1013)
  await (await dial(t, url)).call('daemon.auth', { token })
  await unharmed()
  for (const { socket } of silent) socket.destroy()
})

test('foreign pages and foreign names are refused, by either way in', async (t) => {
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1.evil.example' },
    { origin: 'http://localhost@evil.example' },
    { origin: 'file://' },
    { host: 'evil.example' },
    { host: 'localhost.evil.example:4300' },
    { host: '127.0.0.1@evil.example' },
  ]
  for (const headers of foreign) {
    assert.equal((await openRaw(t, port, { headers })).status, 403, JSON.stringify(headers))
    const known = await openRaw(t, port, { headers: { ...headers, ...bearer() } })
    assert.equal(known.status, 403, JSON.stringify(headers))
  }
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:8080']) {
    assert.equal((await openRaw(t, port, { headers: { origin } })).status, 101, origin)
  }
  await unharmed()
})

test('no WebSocket at all gets an HTTP answer, and nonsense an end', async (t) => {
  assert.equal((await openRaw(t, port, { headers: { 'sec-websocket-version': '7' } })).status, 400)
  assert.equal((await openRaw(t, port, { headers: { 'sec-websocket-key': 'short' } })).status, 400)
  const base = url.replace('ws', 'http')
  assert.equal((await fetch(`${base}/`)).status, 404)
  assert.equal((await fetch(`${base}/health`, { method: 'POST', body: '{}' })).status, 405)
  const socket = createConnection(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.resume()
  socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03]))
  await once(socket, 'close')
  await unharmed()
})

test('who goes in the middle of a frame, or of an answer, leaves nothing behind', async (t) => {
  const frames = [masked(TEXT, call('session.list', '{}')), announced(TEXT, 1000), Buffer.of(0x81)]
  for (const bytes of frames) {
    const raw = await openRaw(t, port, { headers: bearer() })
    raw.socket.write(bytes)
    raw.socket.resetAndDestroy()
  }
  await unharmed()
})
