import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangeLine } from '../../src/core/file-change.ts'
import { languageOf, linesOfSide, splitByLine, withMarks } from '../../web/state/changes/coloured.ts'

const line = (kind: ChangeLine['kind'], text: string): ChangeLine => ({ kind, text, old: 1, new: 1 })

test('the language of a file is known by its name', () => {
  assert.deepEqual(
    ['a/b.test.ts', 'Dockerfile.dev', 'x/Makefile', 'y.mts', 'LICENSE', 'notes.txt'].map(languageOf),
    ['ts', 'dockerfile', 'makefile', 'ts', '', ''],
  )
})

test('colours of a text are those of its lines', () => {
  const lines = [line(' ', 'let a'), line('+', ''), line('+', '/* x'), line('+', 'y */')]
  // `let` is a keyword, then 3 plain (" a\n"), one more line feed, and a comment over two lines.
  const found = splitByLine(lines, [3, 1, 4, 0, 9, 3])
  assert.deepEqual(
    lines.map((one) => found.get(one)!.map(({ text, kind }) => `${kind}:${text}`)),
    [['keyword:let', ': a'], [], ['comment:/* x'], ['comment:y */']],
  )
  assert.deepEqual(
    splitByLine([line('+', 'abc')], [])
      .values()
      .next().value,
    [{ text: 'abc', kind: '' }],
  )
})

test('a line of both versions is coloured with the new one', () => {
  const lines = [line(' ', 'a'), line('-', 'b'), line('+', 'c')]
  const texts = (side: 'old' | 'new'): string =>
    linesOfSide(lines, side)
      .map(({ text }) => text)
      .join('')
  assert.deepEqual([texts('old'), texts('new')], ['b', 'ac'])
})

test('pieces are cut where what differs begins and ends', () => {
  const pieces = withMarks(
    [
      { text: 'const ', kind: 'keyword' },
      { text: 'abc = 1', kind: '' },
    ],
    [
      [3, 8],
      [12, 13],
    ],
  )
  assert.deepEqual(
    pieces.map(({ text, kind, marked }) => [text, kind, marked]),
    [
      ['con', 'keyword', false],
      ['st ', 'keyword', true],
      ['ab', '', true],
      ['c = ', '', false],
      ['1', '', true],
    ],
  )
})
