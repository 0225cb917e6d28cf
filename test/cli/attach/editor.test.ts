import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draftOf, edited, inserted, rowsOf, type Draft } from '../../../src/cli/attach/editor.ts'
import { imagePaths } from '../../../src/cli/attach/image-path.ts'
import { recalled, recallOf, remembered } from '../../../src/cli/attach/recall.ts'
import { widthOf } from '../../../src/cli/attach/width.ts'

/** `|` is the cursor. */
function draft(marked: string): Draft {
  return { ...draftOf(marked.replace('|', '')), cursor: marked.indexOf('|') }
}

function shown({ text, cursor }: Draft): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`
}

const EDITS: [from: string, keys: string[], to: string, width?: number][] = [
  ['ab|', ['left', 'left', 'left', 'right'], 'a|b'],
  ['x日👨‍👩‍👧|', ['left'], 'x日|👨‍👩‍👧'],
  ['x日👨‍👩‍👧|', ['backspace', 'backspace'], 'x|'],
  ['one two_2 + three|', ['ctrl+left', 'ctrl+left'], 'one two_2 |+ three'],
  ['|one, two', ['alt+f', 'alt+f'], 'one,| two'],
  ['one two|', ['ctrl+w'], 'one |'],
  ['one two|', ['ctrl+w', 'ctrl+y', 'ctrl+y'], 'one twotwo|'],
  ['a\nbc|d\ne', ['home'], 'a\n|bcd\ne'],
  ['a\nbc|d\ne', ['end'], 'a\nbcd|\ne'],
  ['a\nbc|d\ne', ['ctrl+k'], 'a\nbc|\ne'],
  ['a\nbc|d\ne', ['ctrl+k', 'ctrl+k'], 'a\nbc|e'],
  ['a\nbc|d\ne', ['ctrl+u', 'ctrl+u'], 'a|d\ne'],
  ['a|b', ['ctrl+j'], 'a\n|b'],
  ['a|b', ['delete', 'delete'], 'a|'],
  ['long line\nx\nlonger li|ne', ['up', 'up'], 'long line|\nx\nlonger line'],
  ['long line\nx\nlonger li|ne', ['up', 'up', 'down', 'down'], 'long line\nx\nlonger li|ne'],
  ['abcdefgh|ij', ['up'], 'abc|defghij', 5],
  ['ab|cdefgh\nx', ['down', 'down'], 'abcdefgh\nx|', 5],
]

for (const [from, keys, to, width = 80] of EDITS) {
  test(`${keys.join(' ')} in ${JSON.stringify(from)}`, () => {
    const after = keys.reduce((state, key) => edited(state, key, width) ?? state, draft(from))
    assert.equal(shown(after), to)
  })
}

test('at the first and at the last row, up and down are for others', () => {
  assert.equal(edited(draft('a|\nb'), 'up', 80), null)
  assert.equal(edited(draft('a\nb|'), 'down', 80), null)
  assert.equal(edited(draft('a|'), 'f5', 80), null)
})

test('rows end where the width does, and never within a character', () => {
  assert.deepEqual(rowsOf('日本語x', 5), [
    { from: 0, to: 2 },
    { from: 2, to: 4 },
  ])
  assert.deepEqual(rowsOf('a\n\nb', 5), [
    { from: 0, to: 1 },
    { from: 2, to: 2 },
    { from: 3, to: 4 },
  ])
})

test('widths of characters', () => {
  for (const [text, width] of [
    ['abc', 3],
    ['日本', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['🎉', 2],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['한국', 4],
    ['ｆｕｌｌ', 8],
    ['\u200b', 0],
  ] as const)
    assert.equal(widthOf(text), width, JSON.stringify(text))
})

test('what was sent can be called back, and what is being written is kept meanwhile', () => {
  const recall = remembered(remembered(recallOf(['one']), 'two'), 'two')
  assert.deepEqual(recall.entries, ['one', 'two'])
  const written = inserted(draftOf(''), 'new')
  const first = recalled(recall, written, -1)!
  assert.equal(first.draft.text, 'two')
  const second = recalled(first.recall, first.draft, -1)!
  assert.equal(second.draft.text, 'one')
  assert.equal(recalled(second.recall, second.draft, -1), null)
  const back = recalled(second.recall, second.draft, 1)!
  const own = recalled(back.recall, back.draft, 1)!
  assert.equal(own.draft.text, 'new')
  assert.equal(recalled(own.recall, own.draft, 1), null)
})

test('paths of pictures, as terminals write what is dropped on them', () => {
  const paths = (text: string): string[] => imagePaths(text).map(({ path }) => path)
  assert.deepEqual(paths("'/a/b c.png' "), ['/a/b c.png'])
  assert.deepEqual(paths('/a/b\\ c.PNG ~/d.jpg'), ['/a/b c.PNG', '~/d.jpg'])
  assert.deepEqual(paths('file:///a/b%20c.webp'), ['/a/b c.webp'])
  assert.deepEqual(paths('/a/Screen Shot.png'), ['/a/Screen Shot.png'])
  assert.deepEqual(paths('see /a/b.png'), [])
  assert.deepEqual(paths('https://example.com/b.png'), [])
  assert.deepEqual(paths('notes.txt'), [])
})
