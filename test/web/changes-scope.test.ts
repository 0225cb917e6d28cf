import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesPath, changesQueryIn, firstLineOf, type ChangesQuery } from '../../web/state/changes/scope.ts'

test('what is looked at stands in the address', () => {
  const queries: ChangesQuery[] = [
    { scope: 'turn', turnId: null },
    { scope: 'turn', turnId: 't 1' },
    { scope: 'branch', turnId: null },
  ]
  for (const query of queries) {
    assert.deepEqual(changesQueryIn(new URL(changesPath('s', query), 'http://x').search), query)
  }
  assert.equal(changesPath('a/b', queries[0]!), '/s/a%2Fb/changes')
  assert.deepEqual(changesQueryIn('?scope=nonsense'), queries[0])
  assert.deepEqual(changesQueryIn('?scope=session&turn=x'), { scope: 'session', turnId: null })
})

test('a turn is known by its first line', () => {
  assert.equal(firstLineOf([{ type: 'text', text: '\n\n  Mend it\nand more' }]), 'Mend it')
  assert.equal(firstLineOf([{ type: 'image' }]), 'a picture or a document')
  assert.equal(firstLineOf([{ type: 'text', text: 'x'.repeat(200) }]).length, 80)
})
