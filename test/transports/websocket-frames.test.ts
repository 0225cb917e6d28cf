import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameBatch, textFrame } from '../../src/transports/frames.ts'
import { BINARY, closeCode, lengthOf, masked, openRaw, PING, TEXT } from '../support/raw-websocket.ts'
import { until } from '../support/wait.ts'
import { listen, open } from './websocket-support.ts'

const MiB = 1024 ** 2
const MAX = 16 * MiB

test('texts of every length of header come whole, there and back', async (t) => {
  const { url } = await listen(t)
  const client = await open(t, url)
  const texts = [
    '',
    'a',
    'é'.repeat(62),
    'x'.repeat(126),
    '☃'.repeat(21_845),
    '𝄞'.repeat(20_000),
    'y'.repeat(MAX),
  ]
  for (const text of texts) client.ws.send(text)
  const messages = await client.got(texts.length)
  for (const [index, text] of texts.entries()) assert.ok(messages[index] === text, `text ${index}`)
})

test('the browser’s own client understands it too', async (t) => {
  const { url } = await listen(t)
  const ws = new WebSocket(url)
  t.after(() => ws.close())
  await new Promise((resolve) => ws.addEventListener('open', resolve))
  const answer = new Promise((resolve) => ws.addEventListener('message', ({ data }) => resolve(data)))
  ws.send('hello ☃')
  assert.equal(await answer, 'hello ☃')
})

test('frames that many are sent in one tick are joined once, and large ones not at all', () => {
  const frames = [textFrame('one'), textFrame('two')]
  const large = textFrame('x'.repeat(100_000))
  const taken = [frames, frames, [...frames, large], frames.toReversed()].map((sent) => {
    const batch = frameBatch()
    for (const frame of sent) batch.add(frame)
    assert.equal(batch.size, Buffer.concat(sent).length)
    const pieces = batch.take()
    assert.deepEqual(Buffer.concat(pieces as Buffer[]), Buffer.concat(sent))
    assert.equal(batch.size, 0)
    return pieces
  })
  assert.equal(taken[0]!.length, 1)
  assert.ok(taken[0]![0] === taken[1]![0])
  assert.ok(taken[2]!.includes(large))
  assert.notDeepEqual(taken[3], taken[0])
})

const announced = (first: number, length: number): Buffer =>
  Buffer.concat([Buffer.of(first, 0xff), lengthOf(length), Buffer.alloc(4)])

const malformed: [what: string, bytes: Buffer, code: number][] = [
  ['a frame without a mask', Buffer.of(TEXT, 2, 0x68, 0x69), 1002],
  ['a compressed frame that nobody agreed on', masked(TEXT | 0x40, 'bomb'), 1002],
  ['another reserved bit', masked(TEXT | 0x20, 'x'), 1002],
  ['an opcode that means nothing', masked(0x83, 'x'), 1002],
  ['a continuation of nothing', masked(0x80, 'x'), 1002],
  ['a text within a text', Buffer.concat([masked(0x01, 'a'), masked(TEXT, 'b')]), 1002],
  ['a ping in pieces', masked(0x09, 'x'), 1002],
  ['a ping that is too long', masked(PING, 'x'.repeat(126)), 1002],
  ['a close frame with half a code', masked(0x88, 'x'), 1002],
  ['a close frame with a code that nobody may send', masked(0x88, Buffer.of(0x03, 0xed)), 1002],
  ['a text that is not UTF-8', masked(TEXT, Buffer.of(0xc3, 0x28)), 1007],
  ['half a surrogate pair', masked(TEXT, Buffer.of(0xed, 0xa0, 0x80)), 1007],
  ['a binary message', masked(BINARY, Buffer.of(1, 2, 3)), 1003],
  ['a message that announces too much', announced(TEXT, MAX + 1), 1009],
  ['a message beyond all numbers', announced(TEXT, Number.MAX_SAFE_INTEGER * 1024), 1009],
  ['a message that is too large in pieces', Buffer.concat([masked(0x01, 'a'), announced(0x80, MAX)]), 1009],
]

for (const [what, bytes, code] of malformed) {
  test(`${what} ends the connection with ${code}, and nothing else`, async (t) => {
    const { port, url, sockets } = await listen(t)
    const other = await open(t, url)
    const raw = await openRaw(t, port)
    raw.socket.write(Buffer.concat([masked(TEXT, 'before'), bytes, masked(TEXT, 'after')]))
    const first = await raw.next()
    if (first?.opcode === 1) {
      assert.equal(first.payload.toString(), 'before')
      assert.equal(await closeCode(raw), code)
    } else assert.equal(first?.payload.readUInt16BE(0), code)
    await until(() => sockets.connections === 1, 'the connection is gone')
    other.ws.send('still here')
    assert.deepEqual(await other.got(1), ['still here'])
  })
}

test('messages come whole whatever the borders of chunks are, with pings in between', async (t) => {
  const { port } = await listen(t)
  const raw = await openRaw(t, port)
  raw.socket.setNoDelay(true)
  const bytes = Buffer.concat([
    masked(0x01, 'he'),
    masked(PING, 'p'),
    masked(0x80, 'llo'),
    masked(TEXT, 'ho'),
  ])
  for (const byte of bytes) {
    raw.socket.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  const frames = [await raw.next(), await raw.next(), await raw.next()]
  assert.deepEqual(
    frames.map((frame) => [frame?.opcode, frame?.payload.toString()]),
    [
      [10, 'p'],
      [1, 'hello'],
      [1, 'ho'],
    ],
  )
})

test('what comes together with the request is the first message', async (t) => {
  const { port } = await listen(t)
  const raw = await openRaw(t, port, { also: masked(TEXT, 'eager') })
  assert.equal((await raw.next())?.payload.toString(), 'eager')
})

test('a proposal to compress is not taken up', async (t) => {
  const { port } = await listen(t)
  const raw = await openRaw(t, port, { headers: { 'sec-websocket-extensions': 'permessage-deflate' } })
  assert.equal(raw.status, 101)
  assert.doesNotMatch(raw.head, /extensions/i)
})
