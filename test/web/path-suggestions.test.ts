import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parentOf, type PathSources, suggestPaths } from '../../web/state/path-suggestions.ts'

const SOURCES: PathSources = {
  recent: ['/home/me/shop', '/home/me/blog'],
  repositories: [
    { path: '/home/me/shop', name: 'Shop' },
    { path: '/srv/api', name: 'Store front' },
  ],
  inside: null,
}
const paths = (typed: string, sources = SOURCES): string[] =>
  suggestPaths(typed, sources).map(({ path }) => path)

test('With nothing typed, what was used before comes first, each once', () => {
  assert.deepEqual(paths(''), ['/home/me/shop', '/home/me/blog', '/srv/api'])
})

test('Words fit paths and names of projects', () => {
  assert.deepEqual(paths('store'), ['/srv/api'])
  assert.deepEqual(paths('me sho'), ['/home/me/shop'])
})

test('A path is completed with what is there', () => {
  const inside = { path: '/home/me', directories: ['shop', 'site', 'music'] }
  assert.deepEqual(paths('/home/me/s', { ...SOURCES, inside }), ['/home/me/shop', '/home/me/site'])
  assert.deepEqual(paths('~/', { ...SOURCES, recent: [], repositories: [], inside }), [
    '/home/me/shop',
    '/home/me/site',
    '/home/me/music',
  ])
  assert.deepEqual(
    paths('/', { recent: [], repositories: [], inside: { path: '/', directories: ['etc'] } }),
    ['/etc'],
  )
})

test('What is typed already is not offered, and never more than can be looked at', () => {
  assert.deepEqual(paths('/home/me/blog'), [])
  const recent = Array.from({ length: 100 }, (_, at) => `/d/${at}`)
  assert.equal(paths('', { ...SOURCES, recent }).length, 8)
})

test('Completion looks into the directory before the last slash', () => {
  assert.deepEqual(['', 'pro', '~/pro', '/pro', '/home/me/'].map(parentOf), ['~', '~', '~', '/', '/home/me'])
})
