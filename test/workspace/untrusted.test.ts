import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/workspace/untrusted.ts'

function config(...entries: [scope: string, key: string, value?: string][]) {
  const text = entries.map(
    ([scope, key, value]) => `${scope}\0${key}${value === undefined ? '' : `\n${value}`}\0`,
  )
  return readConfig(text.join(''))
}

test('remotes and who the user is', () => {
  const found = config(
    ['global', 'user.name', 'One\nTwo'],
    ['local', 'user.name', 'Three'],
    ['local', 'core.bare'],
    ['local', 'remote.with.dots.url', 'x'],
    ['local', 'remote.a.url', 'y'],
    ['local', 'remote.a.url', 'z'],
  )
  const expected = {
    remotes: ['a', 'with.dots'],
    overrides: [],
    disabledFilters: new Set(),
    isWhole: true,
    name: 'Three',
    email: null,
  }
  assert.deepEqual(found, expected)
})

test('settings that come from elsewhere are not whole, wherever that is', () => {
  assert.equal(config(['local', 'include.path', 'extra']).isWhole, false)
  assert.equal(config(['worktree', 'includeif.onbranch:x/**.path', 'extra']).isWhole, false)
  assert.equal(config(['global', 'include.path', 'my own']).isWhole, true)
})

test('filters of the user stay, those of the repository go', () => {
  assert.equal(
    config(['global', 'filter.x.clean', 'cmd'], ['system', 'merge.y.driver', 'cmd']).overrides.length,
    0,
  )
  const found = config(['local', 'filter.x.y.smudge', 'cmd'], ['worktree', 'merge.m.driver', 'cmd'])
  assert.deepEqual(found.overrides, [
    ['filter.x.y.clean', ''],
    ['filter.x.y.smudge', ''],
    ['filter.x.y.process', ''],
    ['filter.x.y.required', 'false'],
    ['merge.m.driver', 'git merge-file %A %O %B'],
  ])
  assert.deepEqual(found.disabledFilters, new Set(['x.y']))
})

test('large files: what its own installer writes into a repository stays, all else goes', () => {
  const plain: [string, string, string][] = [
    ['local', 'filter.lfs.clean', 'git-lfs clean -- %f'],
    ['local', 'filter.lfs.smudge', 'git-lfs smudge -- %f'],
    ['local', 'filter.lfs.process', 'git-lfs filter-process'],
    ['local', 'filter.lfs.required', 'true'],
  ]
  assert.deepEqual(config(...plain).overrides, [])
  assert.ok(
    config(...plain, ['local', 'filter.lfs.clean', 'git-lfs clean -- %f; x']).disabledFilters.has('lfs'),
  )
  const odd = ['lfs.extension.x.clean', 'lfs.customtransfer.x.path', 'lfs.https://h/.standalonetransferagent']
  for (const key of odd) assert.deepEqual(config(...plain, ['local', key, 'cmd']).overrides, [[key, '']])
  assert.deepEqual(config(['local', 'lfs.url', 'https://h/']).overrides, [])
})

test('more than can be taken out is refused', () => {
  const many = Array.from({ length: 200 }, (_, n): [string, string, string] => [
    'local',
    `filter.${n}.clean`,
    'x',
  ])
  assert.throws(() => config(...many), { code: 'git_failed' })
})
