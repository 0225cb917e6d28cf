import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangeLine } from '../../src/core/file-change.ts'
import { pieces, wordRanges } from '../../web/parts/words.ts'

const line = (kind: ChangeLine['kind'], text: string): ChangeLine => ({ kind, text, old: 1, new: 1 })

/** What is marked in each line. */
function marked(lines: ChangeLine[]): string[][] {
  const ranges = wordRanges(lines)
  return lines.map(({ text }, at) =>
    pieces(text, ranges.get(at) ?? [])
      .filter((part) => part.marked)
      .map((part) => part.text),
  )
}

test('words that are different are marked in the lines that take the place of one another', () => {
  const lines = [
    line(' ', 'same'),
    line('-', 'const port = 80'),
    line('+', 'const port = 8080'),
    line(' ', 'same'),
  ]
  assert.deepEqual(marked(lines), [[], ['80'], ['8080'], []])
})

test('lines that have nothing in common are not compared', () => {
  assert.deepEqual(marked([line('-', 'alpha beta gamma'), line('+', 'import { x } from "y"')]), [[], []])
})

test('long lines, and a great many of them, are left whole', () => {
  const long = 'x '.repeat(300)
  assert.deepEqual(marked([line('-', long), line('+', `${long}y`)]), [[], []])
  const many = [
    ...Array<ChangeLine>(100).fill(line('-', 'a b c')),
    ...Array<ChangeLine>(100).fill(line('+', 'a b d')),
  ]
  assert.equal(wordRanges(many).size, 120)
})

test('pieces put together are the text', () => {
  const lines = [line('-', 'the quick brown fox'), line('+', 'the slow brown dog')]
  for (const [at, ranges] of wordRanges(lines))
    assert.equal(
      pieces(lines[at]!.text, ranges)
        .map((part) => part.text)
        .join(''),
      lines[at]!.text,
    )
})
