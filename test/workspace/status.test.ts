import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openRepository } from '../../src/workspace/repository.ts'
import { parseStatus, type RepoStatus } from '../../src/workspace/status.ts'
import { aPlace, type Checkout } from './support.ts'

const place = aPlace()
after(() => place.close())

async function statusOf(checkout: Checkout): Promise<RepoStatus> {
  return (await openRepository(place.git, checkout.path)).status()
}

function short(status: RepoStatus): string[] {
  return status.files.map(({ path, status, code, oldPath }) =>
    [status, code, path, ...(oldPath === null ? [] : [oldPath])].join(' '),
  )
}

test('a clean repository, from a folder within it and through a link', async () => {
  const checkout = place.repo('clean', { 'a.txt': 'one\n', 'deep/er/b.txt': 'two\n' })
  checkout.git('remote', 'add', 'origin', 'https://example.com/x.git')
  checkout.git('remote', 'add', 'fork', 'https://example.com/y.git')
  const repo = await openRepository(place.git, `${checkout.path}/deep/er`)
  assert.equal(repo.root, checkout.path)
  const head = checkout.git('rev-parse', 'HEAD').trim()
  assert.deepEqual(await repo.status(), {
    root: checkout.path,
    branch: 'main',
    detached: false,
    head,
    upstream: null,
    ahead: 0,
    behind: 0,
    remotes: ['fork', 'origin'],
    files: [],
    truncated: false,
    isClean: true,
    hasConflicts: false,
  })
})

test('each kind of change is one entry for each file', async () => {
  const names = ['staged', 'modified', 'both', 'deleted', 'removed', 'moved']
  const checkout = place.repo('kinds', Object.fromEntries(names.map((name) => [name, `${name}\n`.repeat(9)])))
  for (const name of ['staged', 'both']) checkout.write(name, 'x\n')
  checkout.git('add', 'staged', 'both')
  checkout.write('both', 'y\n')
  checkout.write('modified', 'x\n')
  checkout.remove('deleted')
  checkout.git('rm', '-q', 'removed')
  checkout.git('mv', 'moved', 'to here')
  checkout.write('new/one', '1')
  checkout.write('new/two', '2')
  checkout.write('added', '3')
  checkout.git('add', 'added')
  const status = await statusOf(checkout)
  assert.deepEqual(short(status), [
    'staged A. added',
    'staged MM both',
    'deleted .D deleted',
    'modified .M modified',
    'staged D. removed',
    'staged M. staged',
    'staged R. to here moved',
    'untracked ?? new/one',
    'untracked ?? new/two',
  ])
  assert.equal(status.isClean, false)
})

test('conflicts', async () => {
  const checkout = place.repo('conflict', { 'a file': 'one\n' })
  checkout.git('checkout', '-q', '-b', 'other')
  checkout.write('a file', 'two\n')
  checkout.commit()
  checkout.git('checkout', '-q', 'main')
  checkout.write('a file', 'three\n')
  checkout.commit()
  assert.throws(() => checkout.git('merge', '-q', 'other'))
  const status = await statusOf(checkout)
  assert.deepEqual(short(status), ['conflict UU a file'])
  assert.equal(status.hasConflicts, true)
})

test('detached, before the first commit, ahead and behind', async () => {
  const origin = place.repo('origin')
  const checkout = place.repo('unborn', {})
  assert.deepEqual(pick(await statusOf(checkout)), { branch: 'HEAD', detached: false, head: null })
  checkout.git('remote', 'add', 'origin', origin.path)
  checkout.git('fetch', '-q', 'origin')
  checkout.git('checkout', '-q', '-b', 'work', '--track', 'origin/main')
  checkout.write('mine', '1')
  checkout.commit()
  checkout.write('mine', '2')
  const head = checkout.commit()
  origin.write('theirs', '1')
  origin.commit()
  checkout.git('fetch', '-q', 'origin')
  const { upstream, ahead, behind } = await statusOf(checkout)
  assert.deepEqual({ upstream, ahead, behind }, { upstream: 'origin/main', ahead: 2, behind: 1 })
  checkout.git('checkout', '-q', '--detach')
  assert.deepEqual(pick(await statusOf(checkout)), { branch: head.slice(0, 7), detached: true, head })
})

function pick({ branch, detached, head }: RepoStatus) {
  return { branch, detached, head }
}

test('names with line feeds, quotes, dashes and other alphabets', async () => {
  const names = ['-rf', 'a\nb', 'q"uote', 'tab\there', 'äöü 漢字', ':(glob)*', '#x', ' lead', 'trail ']
  const checkout = place.repo('names', {})
  for (const name of names) checkout.write(name, 'x\n')
  const untracked = await statusOf(checkout)
  assert.deepEqual(new Set(untracked.files.map(({ path }) => path)), new Set(names))
  checkout.commit()
  for (const name of names) checkout.write(name, 'y\n')
  checkout.git('mv', '--', 'a\nb', 'c\nd e')
  const status = await statusOf(checkout)
  const moved = status.files.find(({ oldPath }) => oldPath !== null)
  assert.deepEqual([moved?.path, moved?.oldPath], ['c\nd e', 'a\nb'])
  assert.equal(status.files.length, names.length)
})

test('no such folder, no repository, a bare one, a file', async () => {
  const bare = place.repo('bare', {})
  bare.git('init', '-q', '--bare', 'x.git')
  bare.write('file', '')
  for (const path of [`${place.root}/nowhere`, place.root, `${bare.path}/x.git`, `${bare.path}/file`])
    await assert.rejects(openRepository(place.git, path), { code: 'repo_not_found' }, path)
})

test('a repository in a folder whose name has a line feed and a space', async () => {
  const checkout = place.repo('odd\nname ', { a: '1\n' })
  const repo = await openRepository(place.git, checkout.path)
  assert.equal(repo.root, checkout.path)
  checkout.write('a', '2\n')
  assert.deepEqual(short(await repo.status()), ['modified .M a'])
})

test('a nested repository and a submodule are one entry, whatever happens inside', async () => {
  const inner = place.repo('inner')
  const checkout = place.repo('outer')
  checkout.git('submodule', '--quiet', 'add', inner.path, 'sub')
  checkout.commit()
  checkout.write('sub/a.txt', 'dirty')
  assert.equal((await statusOf(checkout)).isClean, true)
  checkout.git('-C', 'sub', 'commit', '-qam', 'moved on')
  assert.deepEqual(short(await statusOf(checkout)), ['modified .M sub'])
  checkout.git('init', '-q', 'nested')
  checkout.write('nested/x', '1')
  assert.deepEqual(short(await statusOf(checkout)), ['modified .M sub', 'untracked ?? nested/'])
})

test('a few among a thousand files', async () => {
  const files = Array.from({ length: 1000 }, (_, n) => [`d${n % 100}/f${n}.txt`, 'same\n'])
  const checkout = place.repo('many', Object.fromEntries(files))
  const repo = await openRepository(place.git, checkout.path)
  for (let n = 0; n < 200; n++) checkout.write(`d${n % 100}/f${n}.txt`, 'changed')
  assert.equal((await repo.status()).files.length, 200)
})

test('a long list is cut, and says so', () => {
  const text = Array.from({ length: 6 }, (_, n) => `? file ${n}\0`).join('')
  const about = { root: '/r', remotes: [], maxFiles: 5 }
  const status = parseStatus(`# branch.oid abc\0# branch.head main\0${text}`, about)
  assert.deepEqual([status.files.length, status.truncated, status.isClean], [5, true, false])
  const cut = parseStatus(`${text}? half a na`, { ...about, maxFiles: 10 })
  assert.deepEqual([cut.files.length, cut.files.at(-1)?.path], [6, 'file 5'])
})
