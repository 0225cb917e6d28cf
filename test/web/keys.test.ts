import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpOf, KEYS, keyOf, meaningOf, pressedKey, type Pressed } from '../../web/state/keys.ts'

const press = (key: string, held: Partial<Pressed> = {}): string | null =>
  pressedKey({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held })

test('Control and Command are the same; shift counts only where the key does not show it', () => {
  assert.equal(press('k', { ctrlKey: true }), 'Mod+k')
  assert.equal(press('K', { metaKey: true }), 'Mod+k')
  assert.equal(press('?', { shiftKey: true }), '?')
  assert.equal(press(' '), 'Space')
  assert.equal(press('Enter', { shiftKey: true }), 'Shift+Enter')
  assert.equal(press('Enter', { ctrlKey: true }), 'Mod+Enter')
  assert.equal(press('Shift', { shiftKey: true }), null)
  assert.equal(press('l', { altKey: true }), null)
})

test('What is nearer decides', () => {
  assert.deepEqual(meaningOf('1', null, ['decision', 'list', 'anywhere']), {
    context: 'decision',
    action: 'answer1',
  })
  assert.equal(meaningOf('1', null, ['list', 'anywhere']), null)
  assert.deepEqual(meaningOf('n', null, ['list', 'anywhere']), { context: 'anywhere', action: 'new' })
})

test('Two keys, one after the other, and a second one that does not fit stands for itself', () => {
  assert.deepEqual(meaningOf('g', null, ['anywhere']), { pending: 'g' })
  assert.deepEqual(meaningOf('i', 'g', ['anywhere']), { context: 'anywhere', action: 'goInbox' })
  assert.deepEqual(meaningOf('n', 'g', ['anywhere']), { context: 'anywhere', action: 'goNow' })
  assert.deepEqual(meaningOf('j', 'g', ['list', 'anywhere']), { context: 'list', action: 'next' })
  assert.deepEqual(meaningOf('g', 'g', ['anywhere']), { pending: 'g' })
})

test('No key means two things in one context, and none begins another', () => {
  for (const { context, key } of KEYS) {
    const same = KEYS.filter((one) => one.context === context && one.key === key)
    assert.equal(same.length, 1, `${context}: ${key}`)
    assert.ok(!KEYS.some((one) => one.key.startsWith(`${key} `)), `${key} begins a longer one`)
  }
})

test('The help has every key, and one line for what has two', () => {
  const help = helpOf()
  assert.equal(help.flatMap(({ lines }) => lines.flatMap(({ keys }) => keys)).length, KEYS.length)
  const list = help.find(({ context }) => context === 'list')!
  assert.deepEqual(list.lines[0], { keys: ['j', 'ArrowDown'], what: 'Next session' })
  assert.equal(keyOf('list', 'done'), 'e')
})
