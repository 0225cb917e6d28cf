import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exact, inert, inertOutput } from '../../src/core/inert.ts'
import { HOSTILE } from '../support/hostile.ts'

// oxlint-disable-next-line no-control-regex -- that is what they are
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

test('no control and no mark of direction is left of anything', () => {
  for (const text of HOSTILE)
    for (const shown of [inert(text), inertOutput(text), exact(text)]) assert.doesNotMatch(shown, UNSEEN)
})

test('plain text stays as it is, with tabs, lines and words of any script', () => {
  const text = 'a\tb\nשלום مرحبا 你好 👩‍💻 <b> & `c`'
  for (const shown of [inert(text), inertOutput(text), exact(text)]) assert.equal(shown, text)
  assert.equal(inert('a\r\nb'), 'a\nb')
})

const outputs: [said: string, shown: string][] = [
  ['\u001b[1;31mred\u001b[0m', 'red'],
  ['\u001b]8;;http://a.b\u0007words\u001b]8;;\u001b\\', 'words'],
  ['\u009b31mred\u009d0;title\u009c', 'red'],
  ['a\u001bP+q544e\u001b\\b\u001b_G\u001b\\c', 'abc'],
  ['\u001b]0;a string that never ends', '0;a string that never ends'],
  ['a\u202eb', 'a⟨U+202E⟩b'],
]

for (const [said, shown] of outputs) {
  test(`of ${JSON.stringify(said)} is left ${JSON.stringify(shown)}`, () => {
    assert.equal(inertOutput(said), shown)
  })
}

test('where it matters, what is not seen has a name', () => {
  assert.equal(exact('ls\r\n\u001b]0; rm x\u0007'), 'ls\n⟨U+001B⟩]0; rm x⟨U+0007⟩')
})
