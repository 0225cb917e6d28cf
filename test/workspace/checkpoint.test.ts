import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Places } from '../../src/workspace/place.ts'
import { createWorkTrees } from '../../src/workspace/work-trees.ts'
import { until } from '../support/wait.ts'
import { aKeptPlace, filesOf, untouched } from './checkpoint-support.ts'
import { aPlace, checkoutAt } from './support.ts'

const place = aKeptPlace()
after(() => place.close())
const { trees, take, restore } = place

test('a checkpoint has all files that are not ignored, and touches nothing of the user', async () => {
  const repo = place.repo('plain', { 'a.txt': 'one\n', '.gitignore': '*.log\n', 'kept.txt': 'kept\n' })
  repo.write('staged.txt', 'staged\n')
  repo.git('add', 'staged.txt')
  repo.write('staged.txt', 'and changed\n')
  repo.write('new/deep.txt', 'new\n')
  repo.write('noise.log', 'noise\n')
  repo.remove('kept.txt')
  repo.git('stash', 'list')
  const before = untouched(repo)
  const { tree, repository, left } = await take(repo)
  assert.deepEqual(filesOf(repo, tree), {
    '.gitignore': '*.log\n',
    'a.txt': 'one\n',
    'new/deep.txt': 'new\n',
    'staged.txt': 'and changed\n',
  })
  assert.equal(repository, join(repo.path, '.git'))
  assert.deepEqual(left, [])
  assert.deepEqual(untouched(repo), before)
  assert.equal((await take(repo)).tree, tree)
})

test('refs keep it, without a history, and go with the session', async () => {
  const repo = place.repo('refs')
  repo.git('config', 'core.logAllRefUpdates', 'always')
  const { tree, repository } = await take(repo)
  const before = untouched(repo)
  const ref = 'refs/corral/checkpoints/session/turn'
  await trees.keep(repository, { set: [[ref, tree]], remove: ['refs/corral/checkpoints/session/none'] })
  assert.equal(repo.git('rev-parse', ref).trim(), tree)
  assert.deepEqual(untouched(repo), before)
  // Those who look at all branches do not see it.
  assert.equal(repo.git('log', '--all', '--oneline').trim().split('\n').length, 1)
  repo.git('fsck', '--strict')
  await trees.keep(repository, { set: [['refs/corral/checkpoints/other/turn', tree]], remove: [] })
  await trees.forget(repository, 'session')
  assert.equal(
    repo.git('for-each-ref', '--format=%(refname)', 'refs/corral').trim(),
    'refs/corral/checkpoints/other/turn',
  )
  assert.deepEqual(untouched(repo), before)
})

test('a large untracked file is left out and left alone', async () => {
  const repo = place.repo('large')
  repo.write('large.bin', '')
  truncateSync(join(repo.path, 'large.bin'), 21 * 1024 * 1024)
  repo.write('grows.bin', 'small\n')
  const target = await take(repo)
  assert.deepEqual(target.left, ['large.bin'])
  assert.deepEqual(Object.keys(filesOf(repo, target.tree)), ['a.txt', 'grows.bin'])
  repo.write('a.txt', 'changed\n')
  const known = await take(repo)
  truncateSync(join(repo.path, 'grows.bin'), 21 * 1024 * 1024)
  await trees.tidy(repo.path)
  assert.deepEqual((await take(repo)).left, ['grows.bin', 'large.bin'])
  const { conflicts } = await trees.plan(repo.path, { target: target.tree, known: known.tree })
  assert.deepEqual(
    conflicts.map(({ path }) => path),
    ['grows.bin'],
  )
  assert.equal(await restore(repo, target, known, true), 1)
  assert.equal(statSync(join(repo.path, 'grows.bin')).size, 21 * 1024 * 1024)
  assert.equal(statSync(join(repo.path, 'large.bin')).size, 21 * 1024 * 1024)
})

test('a file that is tracked although it is ignored is in a checkpoint', async () => {
  const repo = place.repo('forced', { 'a.txt': 'one\n', '.gitignore': '*.log\n' })
  await take(repo)
  repo.write('x.log', 'x\n')
  repo.git('add', '-f', 'x.log')
  await trees.tidy(repo.path)
  assert.ok('x.log' in filesOf(repo, (await take(repo)).tree))
  repo.write('x.log', 'y\n')
  assert.equal(filesOf(repo, (await take(repo)).tree)['x.log'], 'y\n')
})

test('a repository without a commit, a linked worktree and a git directory elsewhere have checkpoints', async () => {
  const unborn = place.repo('unborn', {})
  const empty = await take(unborn)
  unborn.write('a.txt', 'one\n')
  const one = await take(unborn)
  assert.deepEqual(filesOf(unborn, one.tree), { 'a.txt': 'one\n' })
  assert.equal(await restore(unborn, empty, one), 1)
  assert.equal(existsSync(join(unborn.path, 'a.txt')), false)

  const main = place.repo('with worktree')
  main.git('worktree', 'add', '-q', '-b', 'feature', '../linked')
  const linked = checkoutAt(join(place.root, 'linked'), place.env)
  linked.write('b.txt', 'b\n')
  const before = untouched(main)
  const { repository } = await take(linked)
  assert.equal(repository, join(main.path, '.git'))
  assert.deepEqual(untouched(main), before)

  const separate = place.repo('separate')
  separate.git('init', '-q', '--separate-git-dir', join(place.root, 'elsewhere.git'))
  assert.deepEqual(filesOf(separate, (await take(separate)).tree), { 'a.txt': 'one\ntwo\nthree\n' })
})

test('a sparse checkout stays sparse', async () => {
  const repo = place.repo('sparse', { 'in/f.txt': 'one\n', 'out/f.txt': 'one\n' })
  repo.git('sparse-checkout', 'set', '--cone', 'in')
  const target = await take(repo)
  assert.deepEqual(Object.keys(filesOf(repo, target.tree)), ['in/f.txt', 'out/f.txt'])
  repo.write('in/f.txt', 'two\n')
  repo.write('out/new.txt', 'outside\n')
  const known = await take(repo)
  assert.equal(await restore(repo, target, known), 1)
  assert.equal(existsSync(join(repo.path, 'out/f.txt')), false)
  assert.equal(readFileSync(join(repo.path, 'out/new.txt'), 'utf8'), 'outside\n')
  repo.git('sparse-checkout', 'set', '--cone', 'out')
  assert.deepEqual(filesOf(repo, (await take(repo)).tree)['in/f.txt'], 'one\n')
})

test('conflicts of a merge are in a checkpoint as they are in the files', async () => {
  const repo = place.repo('conflict')
  repo.git('checkout', '-q', '-b', 'other')
  repo.write('a.txt', 'theirs\n')
  repo.commit()
  repo.git('checkout', '-q', 'main')
  repo.write('a.txt', 'ours\n')
  repo.commit()
  assert.throws(() => repo.git('merge', 'other'))
  const before = untouched(repo)
  assert.match(filesOf(repo, (await take(repo)).tree)['a.txt']!, /<<<<<<< HEAD/)
  assert.deepEqual(untouched(repo), before)
})

test('a change within the second in which the index was written is not overlooked', async () => {
  const repo = place.repo('racy', { 'a.txt': 'one\n' })
  const second = (path: string): number => Math.floor(statSync(join(repo.path, path)).mtimeMs / 1000)
  await until(() => {
    repo.write('a.txt', 'two\n')
    repo.git('add', 'a.txt')
    repo.write('a.txt', 'six\n')
    return second('a.txt') === second('.git/index')
  }, 'all of it happens within a second')
  await until(() => Date.now() / 1000 > second('a.txt') + 2, 'that second is over')
  const { files } = await trees.diff(repo.path, { from: 'head', to: null })
  assert.deepEqual(files[0]?.hunks[0]?.lines.at(-1)?.text, 'six')
  assert.equal(filesOf(repo, (await take(repo)).tree)['a.txt'], 'six\n')
})

test('what cannot be read stays as it was, and the rest is written down', async () => {
  const repo = place.repo('unreadable', { 'a.txt': 'one\n', 'b.txt': 'one\n' })
  repo.write('a.txt', 'two\n')
  repo.remove('b.txt')
  execFileSync('mkfifo', [join(repo.path, 'b.txt'), join(repo.path, 'fifo')])
  assert.deepEqual(filesOf(repo, (await take(repo)).tree), { 'a.txt': 'two\n', 'b.txt': 'one\n' })
})

test('line ends and split indexes are as the repository has them', async () => {
  const repo = place.repo('crlf', { 'a.txt': 'one\r\ntwo\r\n', '.gitattributes': '*.txt text eol=crlf\n' })
  repo.git('config', 'core.safecrlf', 'true')
  repo.git('config', 'core.splitIndex', 'true')
  repo.git('update-index', '--split-index')
  repo.write('b.txt', 'mixed\r\nends\n')
  const shared = (): string[] =>
    readdirSync(join(repo.path, '.git')).filter((name) => name.startsWith('sharedindex'))
  const before = shared()
  const target = await take(repo)
  assert.deepEqual(shared(), before)
  repo.write('a.txt', 'changed\r\n')
  const known = await take(repo)
  assert.equal(await restore(repo, target, known), 1)
  assert.equal(readFileSync(join(repo.path, 'a.txt'), 'utf8'), 'one\r\ntwo\r\n')
  // What the index was copied from may go.
  for (const name of shared()) rmSync(join(repo.path, '.git', name))
  await take(repo)
})

test('where there is no repository, or none that git accepts, there is no checkpoint', async () => {
  const plain = join(place.root, 'no repository')
  mkdirSync(plain)
  assert.equal(await trees.take(plain), null)
  assert.equal(await trees.root(plain), null)
  assert.equal(await trees.take(join(place.root, 'not there')), null)
  const bare = join(place.root, 'bare.git')
  execFileSync('git', ['init', '-q', '--bare', bare])
  assert.equal(await trees.take(bare), null)
  const fifo = join(place.root, 'fifo')
  mkdirSync(fifo)
  execFileSync('mkfifo', [join(fifo, '.git')])
  await assert.rejects(trees.take(fifo), { code: 'repo_not_found' })
  const broken = place.repo('broken')
  writeFileSync(join(broken.path, '.git/HEAD'), 'nonsense')
  await assert.rejects(trees.take(broken.path), { code: 'repo_not_found' })
})

test("Corral's own files are in no checkpoint, wherever they are", async () => {
  const repo = place.repo('around')
  const own = join(repo.path, 'corral')
  const inside = createWorkTrees(place.git, new Places(place.git), {
    folder: join(own, 'checkpoints'),
    home: own,
  })
  mkdirSync(own)
  writeFileSync(join(own, 'token'), 'secret')
  const { tree } = (await inside.take(repo.path))!
  assert.deepEqual(Object.keys(filesOf(repo, tree)), ['a.txt'])
})

test('two processes of git at the most are run, and one where nothing has changed', async () => {
  const log = join(place.root, 'runs.txt')
  const bin = join(place.root, 'counting')
  mkdirSync(bin)
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$2" >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 })
  const counted = aPlace({ PATH: `${bin}:${process.env['PATH']}` })
  try {
    const counting = createWorkTrees(counted.git, new Places(counted.git), {
      folder: join(counted.root, 'c'),
      home: join(counted.root, 'home'),
    })
    const repo = counted.repo('counted')
    const config = statSync(join(repo.path, '.git/config'))
    await until(() => Date.now() - config.ctimeMs > 1100, 'the settings are no longer new')
    await counting.take(repo.path)
    const run = async (work: () => Promise<unknown>): Promise<string[]> => {
      writeFileSync(log, '')
      await work()
      return readFileSync(log, 'utf8').trim().split('\n')
    }
    repo.write('b.txt', 'new\n')
    assert.deepEqual(await run(() => counting.take(repo.path)), ['add', 'write-tree'])
    const written = Date.now()
    await until(() => Date.now() - written > 1100, 'the index is no longer new')
    await counting.take(repo.path)
    assert.deepEqual(await run(() => counting.take(repo.path)), ['add'])
    // Settings that have changed are read again.
    repo.git('config', 'filter.x.clean', 'false')
    assert.ok((await run(() => counting.take(repo.path))).includes('config'))
  } finally {
    counted.close()
  }
})

test('objects that were cleaned away are written again', async () => {
  const repo = place.repo('cleaned')
  repo.write('b.txt', 'new\n')
  const { repository } = await take(repo)
  repo.git('gc', '-q', '--prune=now')
  await trees.forget(repository, 'nobody')
  const { tree } = await take(repo)
  repo.write('c.txt', 'newer\n')
  const next = await take(repo)
  assert.deepEqual(Object.keys(filesOf(repo, next.tree)), ['a.txt', 'b.txt', 'c.txt'])
  assert.deepEqual(Object.keys(filesOf(repo, tree)), ['a.txt', 'b.txt'])
})
