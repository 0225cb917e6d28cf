import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  commandSuggestions,
  completed,
  ownCommand,
  typingAt,
  type CommandFacts,
} from '../../web/state/completion.ts'

const FACTS: CommandFacts = {
  models: [
    { id: 'large', name: 'The large one' },
    { id: 'little', name: 'The little one' },
  ],
  efforts: ['low', 'high'],
  canCompact: true,
  agents: ['review', 'compact', 'init'].map((name) => ({ name, about: null })),
}
const labels = (query: string, facts = FACTS) => commandSuggestions(query, facts).map(({ label }) => label)

describe('what is being typed', () => {
  test('a file stands after an @ at the beginning of a word', () => {
    assert.deepEqual(typingAt('look at @src/a', 14), { kind: 'file', query: 'src/a', from: 8, to: 14 })
    assert.deepEqual(typingAt('@', 1), { kind: 'file', query: '', from: 0, to: 1 })
    assert.equal(typingAt('me@example.com', 14), null)
    assert.equal(typingAt('@a b', 4), null)
  })

  test('a command stands after a slash at the very beginning', () => {
    assert.deepEqual(typingAt('/mo', 3), { kind: 'command', query: '/mo', from: 0, to: 3 })
    assert.equal(typingAt('a /mo', 5), null)
    assert.equal(typingAt('/mode plan\nand', 14), null)
  })

  test('what is chosen takes its place, and the cursor stands behind it', () => {
    const typing = typingAt('see @sr please', 7)!
    assert.deepEqual(completed('see @sr please', typing, '@src/a.ts'), {
      text: 'see @src/a.ts please',
      cursor: 13,
    })
    assert.deepEqual(completed('@sr', typingAt('@sr', 3)!, '@src/a.ts'), { text: '@src/a.ts ', cursor: 10 })
  })
})

describe('commands', () => {
  test('names first, then what they take', () => {
    assert.deepEqual(labels('/'), ['/mode', '/model', '/effort', '/compact', '/review', '/init'])
    assert.deepEqual(labels('/mod'), ['/mode', '/model'])
    assert.deepEqual(labels('/mode p'), ['/mode plan'])
    assert.deepEqual(labels('/model l'), ['/model large', '/model little'])
    assert.deepEqual(labels('/effort '), ['/effort low', '/effort high', '/effort default'])
    assert.deepEqual(labels('/review x'), [])
    assert.deepEqual(labels('/', { models: [], efforts: [], canCompact: false, agents: [] }), ['/mode'])
  })

  test('what is one of our own is not sent', () => {
    assert.deepEqual(ownCommand('/mode plan', true), { do: 'mode', value: 'plan' })
    assert.deepEqual(ownCommand(' /model large ', true), { do: 'model', value: 'large' })
    assert.deepEqual(ownCommand('/model default', true), { do: 'model', value: null })
    assert.deepEqual(ownCommand('/effort high', true), { do: 'effort', value: 'high' })
    assert.deepEqual(ownCommand('/compact', true), { do: 'compact' })
    for (const text of [
      '/mode',
      '/mode fast',
      '/model',
      '/effort x',
      '/review',
      'do /compact',
      '/compact now',
    ])
      assert.equal(ownCommand(text, true), null, text)
    assert.equal(ownCommand('/compact', false), null)
  })
})
