import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSseReader, type SseEvent } from '../../src/relay/providers/sse-reader.ts'

const STREAM = Buffer.from(
  [
    ': a comment\n',
    'event: first\r\ndata: {"a":"ü–🙂"}\r\n\r\n',
    'data: one\ndata:two\ndata:\ndata: four\n\n',
    'event: without data\n\n',
    'id: 7\nretry: 5\ndata:  spaced\n\n',
    'data\n\n',
    'data: \u2028 is no end of a line\n\n',
    'data: cut off',
  ].join(''),
)
const EVENTS: SseEvent[] = [
  { name: 'first', data: '{"a":"ü–🙂"}' },
  { name: '', data: 'one\ntwo\n\nfour' },
  { name: '', data: ' spaced' },
  { name: '', data: '' },
  { name: '', data: '\u2028 is no end of a line' },
]

test('events are the same wherever the bytes are cut', () => {
  for (let cut = 0; cut <= STREAM.length; cut += 1) {
    const reader = createSseReader()
    const events = [...reader.push(STREAM.subarray(0, cut)), ...reader.push(STREAM.subarray(cut))]
    assert.deepEqual(events, EVENTS, `cut at ${cut}`)
  }
})

test('byte by byte, too', () => {
  const reader = createSseReader()
  const events = [...STREAM].flatMap((byte) => reader.push(Buffer.from([byte])))
  assert.deepEqual(events, EVENTS)
})

test('an event has its bounds, in one line or in many', () => {
  assert.throws(() => createSseReader(100).push(Buffer.from(`data: ${'x'.repeat(200)}`)), /larger than 100/)
  assert.throws(
    () => createSseReader(100).push(Buffer.from('data: 0123456789\n'.repeat(20))),
    /larger than 100/,
  )
  const reader = createSseReader(100)
  for (let i = 0; i < 50; i += 1) assert.equal(reader.push(Buffer.from('data: 0123456789\n\n')).length, 1)
})
