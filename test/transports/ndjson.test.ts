import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLineSplitter, encodeLine } from '../../src/transports/ndjson.ts'

function collect(maxLineBytes?: number) {
  const lines: string[] = []
  const splitter = createLineSplitter({
    onLine: (line) => lines.push(line.toString('utf8')),
    onOverflow: (limit) => lines.push(`<over ${limit}>`),
    ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
  })
  return { lines, splitter }
}

test('lines come out whole whatever the chunk borders are', () => {
  const text = 'a\n\n{"x":"ä€𝄞"}\nlast'
  const bytes = Buffer.from(text)
  for (let size = 1; size <= bytes.length; size++) {
    const { lines, splitter } = collect()
    for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size))
    splitter.end()
    assert.deepEqual(lines, text.split('\n'), `chunks of ${size}`)
  }
})

test('U+2028, U+2029 and CR do not split a line', () => {
  const { lines, splitter } = collect()
  splitter.push(Buffer.from('{"x":"a\u2028b\u2029c\r"}\n'))
  assert.deepEqual(lines, ['{"x":"a\u2028b\u2029c\r"}'])
})

test('a line above the limit is reported once, skipped to its end, and the next ones come through', () => {
  const { lines, splitter } = collect(5)
  for (const chunk of ['ok\n123', '456', '789', 'more\nnext\n', 'toolong\n', 'exact\n']) {
    splitter.push(Buffer.from(chunk))
  }
  assert.deepEqual(lines, ['ok', '<over 5>', 'next', '<over 5>', 'exact'])
  assert.equal(splitter.held, 0)
})

test('an oversized line is not held in memory', () => {
  const { splitter } = collect(1000)
  for (let i = 0; i < 1000; i++) splitter.push(Buffer.alloc(100, 0x61))
  assert.equal(splitter.held, 0)
})

test('a value is one line', () => {
  assert.equal(encodeLine({ a: 'x\ny' }), '{"a":"x\\ny"}\n')
})
