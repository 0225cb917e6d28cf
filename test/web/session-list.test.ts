import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionRow } from '../../web/client/rows.ts'
import {
  groupsByProject,
  groupsByState,
  linesOf,
  listOf,
  matching,
  NO_COUNTS,
  placeName,
  stepTo,
  withChange,
} from '../../web/state/session-list.ts'
import { someRow } from './some-row.ts'

const named = (rows: readonly SessionRow[]): string[] => rows.map(({ id }) => id)

test('A change replaces rows, removes rows and brings the counts', () => {
  const list = listOf({
    seq: 5,
    sessions: [someRow('a'), someRow('b')],
    counts: { ...NO_COUNTS, quiet: 2 },
    more: false,
  })
  const next = withChange(list, {
    seq: 7,
    changed: [someRow('c'), someRow('a', { title: 'new' })],
    removed: ['b'],
    counts: { ...NO_COUNTS, quiet: 1, working: 1 },
  })
  assert.deepEqual([...next.rows.keys()].sort(), ['a', 'c'])
  assert.equal(next.rows.get('a')?.title, 'new')
  assert.equal(next.seq, 7)
  assert.equal(next.counts.working, 1)
  assert.equal(list.rows.size, 2, 'the one before is as it was')
})

test('Groups come in the order of what they need, and empty ones do not come', () => {
  const groups = groupsByState([
    someRow('q', { attention: 'quiet' }),
    someRow('n', { attention: 'needs_you' }),
    someRow('w', { attention: 'working' }),
  ])
  assert.deepEqual(
    groups.map(({ key, rows }) => [key, ...named(rows)]),
    [
      ['needs_you', 'n'],
      ['working', 'w'],
      ['quiet', 'q'],
    ],
  )
})

test('Quiet ones are folded beside others, and not when they are alone', () => {
  const quiet = someRow('q', { attention: 'quiet' })
  assert.deepEqual(
    groupsByState([quiet]).map(({ key }) => key),
    ['all-quiet'],
  )
  assert.deepEqual(
    groupsByState([quiet, someRow('w', { attention: 'working' })]).map(({ key }) => key),
    ['working', 'quiet'],
  )
})

test('Pinned rows are first; then whoever waits longest, and what ended last', () => {
  const [needs] = groupsByState([
    someRow('late', { attention: 'needs_you', activeAt: 20 }),
    someRow('early', { attention: 'needs_you', activeAt: 10 }),
    someRow('pinned', { attention: 'needs_you', activeAt: 30, pinned: true }),
  ])
  assert.deepEqual(named(needs!.rows), ['pinned', 'early', 'late'])
  const [done] = groupsByState([
    someRow('first', { attention: 'done', endedAt: 10 }),
    someRow('last', { attention: 'done', endedAt: 20 }),
  ])
  assert.deepEqual(named(done!.rows), ['last', 'first'])
})

test('What works keeps its place while it says things', () => {
  const [working] = groupsByState([
    someRow('b', { attention: 'working', activeAt: 99, turn: { id: 't', startedAt: 2 } }),
    someRow('a', { attention: 'working', activeAt: 50, turn: { id: 't', startedAt: 1 } }),
  ])
  assert.deepEqual(named(working!.rows), ['a', 'b'])
})

test('What is snoozed comes in the order in which it comes back', () => {
  const [snoozed] = groupsByState([
    someRow('deferred', { attention: 'snoozed' }),
    someRow('later', { attention: 'snoozed', snoozedUntil: 200 }),
    someRow('sooner', { attention: 'snoozed', snoozedUntil: 100 }),
  ])
  assert.deepEqual(named(snoozed!.rows), ['sooner', 'later', 'deferred'])
})

test('By project: the project with most to do first, and within it the same order', () => {
  const groups = groupsByProject([
    someRow('1', { cwd: '/home/me/zebra', attention: 'quiet' }),
    someRow('2', { project: { id: 'p', name: 'Shop' }, cwd: '/home/me/shop/api', attention: 'working' }),
    someRow('3', { project: { id: 'p', name: 'Shop' }, cwd: '/home/me/shop/web', attention: 'needs_you' }),
    someRow('4', { cwd: '/home/me/apes', attention: 'quiet' }),
    someRow('5', { cwd: '/worktrees/5', worktreeOf: '/home/me/apes', worktree: true, attention: 'quiet' }),
  ])
  assert.deepEqual(
    groups.map(({ name, rows }) => [name, ...named(rows)]),
    [
      ['Shop', '3', '2'],
      ['apes', '4', '5'],
      ['zebra', '1'],
    ],
  )
})

test('A place has the name of its project, else the last part of its path', () => {
  const nowhere = { project: null, worktreeOf: null }
  assert.equal(placeName({ ...nowhere, project: { id: 'p', name: 'Shop' }, cwd: '/a/b' }), 'Shop')
  assert.equal(placeName({ ...nowhere, cwd: '/a/b/' }), 'b')
  assert.equal(placeName({ ...nowhere, cwd: '/' }), '/')
  assert.equal(placeName({ ...nowhere, cwd: '/worktrees/0192', worktreeOf: '/a/shop' }), 'shop')
})

test('A filter wants every word, wherever it is', () => {
  const rows = [
    someRow('a', { title: 'Fix the login', agent: 'claude', cwd: '/home/me/shop' }),
    someRow('b', { title: 'Fix the cart', agent: 'codex', cwd: '/home/me/shop' }),
  ]
  assert.deepEqual(named(matching(rows, ' FIX  codex ')), ['b'])
  assert.deepEqual(named(matching(rows, '')), ['a', 'b'])
  assert.deepEqual(named(matching(rows, 'fix nothing')), [])
})

test('Folded groups have a heading and no rows', () => {
  const groups = groupsByState([
    someRow('n', { attention: 'needs_you' }),
    someRow('q', { attention: 'quiet' }),
  ])
  const lines = linesOf(groups, new Set(['quiet']))
  assert.deepEqual(
    lines.map(({ key }) => key),
    ['head:needs_you', 'n', 'head:quiet'],
  )
})

test('Steps stop at the ends, begin at either, and go on where a row has gone', () => {
  const ids = ['a', 'b', 'c']
  assert.equal(stepTo(ids, null, 1), 'a')
  assert.equal(stepTo(ids, null, -1), 'c')
  assert.equal(stepTo(ids, 'b', 1), 'c')
  assert.equal(stepTo(ids, 'c', 1), 'c')
  assert.equal(stepTo(ids, 'a', -1), 'a')
  assert.equal(stepTo(ids, 'gone', 1, 1), 'b')
  assert.equal(stepTo(ids, 'gone', 1, 9), 'c')
  assert.equal(stepTo([], 'a', 1), null)
})
