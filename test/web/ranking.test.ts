import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Candidate, ranked } from '../../web/state/ranking.ts'

const ITEMS: Candidate[] = [
  { id: 'newsletter', group: 'sessions', title: 'Send the newsletter', detail: '~/shop · claude' },
  { id: 'login', group: 'sessions', title: 'Fix the login page', detail: '~/shop · codex' },
  { id: 'new', group: 'actions', title: 'New session', words: 'start create agent' },
  { id: 'inbox', group: 'pages', title: 'Inbox', words: 'decisions approvals' },
  { id: 'hit', group: 'messages', title: 'whatever the daemon has found' },
]
const found = (query: string): string[] =>
  ranked(ITEMS, query).flatMap(({ group, items }) => items.map(({ id }) => `${group}/${id}`))

test('Without a query everything is there, in its order', () => {
  assert.deepEqual(found(''), [
    'sessions/newsletter',
    'sessions/login',
    'actions/new',
    'pages/inbox',
    'messages/hit',
  ])
})

test('The group with the best one comes first, and messages come last', () => {
  assert.deepEqual(found('new'), ['actions/new', 'sessions/newsletter', 'messages/hit'])
  assert.equal(found('fix')[0], 'sessions/login')
})

test('A title counts more than a detail, and a detail more than other words', () => {
  const items: Candidate[] = [
    { id: 'words', group: 'sessions', title: 'a', words: 'shop' },
    { id: 'detail', group: 'sessions', title: 'a', detail: 'shop' },
    { id: 'title', group: 'sessions', title: 'shop' },
  ]
  assert.deepEqual(
    ranked(items, 'shop')[0]?.items.map(({ id }) => id),
    ['title', 'detail', 'words'],
  )
})

test('Every word must be found, in any of the texts', () => {
  assert.deepEqual(found('shop codex'), ['sessions/login', 'messages/hit'])
  assert.deepEqual(found('shop gemini'), ['messages/hit'])
})

test('Letters that are scattered fit when they begin a word and are close', () => {
  assert.deepEqual(found('inbx'), ['pages/inbox', 'messages/hit'])
  assert.deepEqual(found('nbx'), ['messages/hit'])
})

test('What a pattern would mean is only text', () => {
  assert.deepEqual(found('.*'), ['messages/hit'])
  assert.deepEqual(found('~/shop ('), ['messages/hit'])
})

test('A group has few enough to look at', () => {
  const many = Array.from({ length: 500 }, (_, at): Candidate => ({
    id: `${at}`,
    group: 'sessions',
    title: `session ${at}`,
  }))
  assert.equal(ranked(many, 'session')[0]?.items.length, 8)
})

test('What was written in full is found before all that only begins with it', () => {
  const numbered = Array.from({ length: 130 }, (_, at): Candidate => ({
    id: `${at}`,
    group: 'sessions',
    title: `Session ${at}`,
  }))
  const first = (query: string): string | undefined => ranked(numbered.toReversed(), query)[0]?.items[0]?.id
  assert.equal(first('session 12'), '12')
  assert.equal(first('12 session'), '12')
  assert.equal(first('Session 129'), '129')
})
