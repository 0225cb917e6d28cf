import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyReader, type Press } from '../../../src/cli/attach/keys.ts'

function read(...chunks: string[]): Press[] {
  const reader = createKeyReader()
  return chunks.flatMap((chunk) => reader.push(chunk))
}

const KEYS: [string, Press[]][] = [
  ['hi', [{ text: 'hi' }]],
  ['a\rb', [{ text: 'a' }, { key: 'enter' }, { text: 'b' }]],
  ['\n', [{ key: 'ctrl+j' }]],
  ['\u0003\u0004\u000f', [{ key: 'ctrl+c' }, { key: 'ctrl+d' }, { key: 'ctrl+o' }]],
  ['\u007f', [{ key: 'backspace' }]],
  ['\u001b[A\u001bOB', [{ key: 'up' }, { key: 'down' }]],
  ['\u001b[1;5D\u001b[1;3C', [{ key: 'ctrl+left' }, { key: 'alt+right' }]],
  ['\u001b[3~\u001b[H\u001b[4~', [{ key: 'delete' }, { key: 'home' }, { key: 'end' }]],
  ['\u001b\r', [{ key: 'alt+enter' }]],
  ['\u001bb\u001b\u007f', [{ key: 'alt+b' }, { key: 'alt+backspace' }]],
  ['\u001b[13;2u\u001b[27;2;13~', [{ key: 'shift+enter' }, { key: 'shift+enter' }]],
  ['\u001b[27u\u001b[99;5u', [{ key: 'escape' }, { key: 'ctrl+c' }]],
  ['\u001b[99;5:3u', []], // let go
  ['\u001b[Z', [{ key: 'shift+tab' }]],
  ['\u001b]11;rgb:0/0/0\u0007x\u001b[?1;2c', [{ text: 'x' }]], // answers of the terminal
  ['日本🎉', [{ text: '日本🎉' }]],
  ['a\u0085b', [{ text: 'a' }, { text: 'b' }]],
]

for (const [sent, presses] of KEYS) {
  test(`${JSON.stringify(sent)} in one piece and in many`, () => {
    assert.deepEqual(read(sent), presses)
    const pieces = read(...Array.from(sent))
    const joined = pieces.reduce<Press[]>((all, press) => {
      const last = all.at(-1)
      if (last && 'text' in last && 'text' in press && !sent.includes('\u0085')) last.text += press.text
      else all.push({ ...press })
      return all
    }, [])
    assert.deepEqual(joined, presses)
  })
}

test('a paste is one thing, however it is cut, and whatever is in it', () => {
  const sent = 'x\u001b[200~one\r\ntwo\rthree \u001b[A \u0003\u001b[201~\r'
  const expected = [{ text: 'x' }, { paste: 'one\ntwo\nthree \u001b[A \u0003' }, { key: 'enter' }]
  for (let cut = 0; cut <= sent.length; cut++) {
    assert.deepEqual(read(sent.slice(0, cut), sent.slice(cut)), expected, `cut at ${cut}`)
  }
})

test('an escape that nothing follows is the key', () => {
  const reader = createKeyReader()
  assert.deepEqual(reader.push('\u001b'), [])
  assert.equal(reader.isWaiting(), true)
  assert.deepEqual(reader.flush(), [{ key: 'escape' }])
  assert.equal(reader.isWaiting(), false)
  assert.deepEqual(reader.push('\u001b'), [])
  assert.deepEqual(reader.push('\u001b'), [{ key: 'escape' }])
  assert.deepEqual(reader.flush(), [{ key: 'escape' }])
})
