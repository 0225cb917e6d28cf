import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOOL_CLASSES } from '../../src/core/about.ts'
import { CLASSES, ruleRows, withoutRule, withRule, withRules } from '../../web/state/rule-book.ts'

const RULES = { allow: ['edit'], deny: ['shell(git push*)'], acceptEdits: false, skipUntil: null }
const NONE = { allow: [], deny: [], acceptEdits: false, skipUntil: null }

test('rules are added and taken away one at a time, and the rest stays', () => {
  assert.deepEqual(ruleRows(RULES), [
    { verdict: 'deny', text: 'shell(git push*)' },
    { verdict: 'allow', text: 'edit' },
  ])
  assert.deepEqual(withRule(RULES, { verdict: 'allow', text: ' shell(ls) ' }), {
    allow: ['edit', 'shell(ls)'],
  })
  assert.equal(withRule(RULES, { verdict: 'allow', text: 'edit' }), null)
  assert.equal(withRule(RULES, { verdict: 'deny', text: '  ' }), null)
  assert.deepEqual(withoutRule(RULES, { verdict: 'deny', text: 'shell(git push*)' }), { deny: [] })
})

test('directories without a rule are left out', () => {
  const skipped = { ...NONE, skipUntil: 50 }
  const directories = [
    { path: '/b', rules: RULES },
    { path: '/none', rules: NONE },
    { path: '/a', rules: skipped },
  ]
  assert.deepEqual(
    withRules(directories, 10).map(({ path }) => path),
    ['/a', '/b'],
  )
  assert.deepEqual(
    withRules(directories, 60).map(({ path }) => path),
    ['/b'],
  )
})

test('every class of tools is explained', () => {
  assert.deepEqual(CLASSES.map(({ name }) => name).toSorted(), [...TOOL_CLASSES].toSorted())
})
