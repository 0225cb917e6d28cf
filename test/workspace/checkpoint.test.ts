import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { WorkState } from '../../src/core/checkpoint.ts'
import { Places } from '../../src/workspace/place.ts'
import { createWorkTrees } from '../../src/workspace/work-trees.ts'
import { until } from '../support/wait.ts'
import { aPlace, checkoutAt, type Checkout } from './support.ts'

const place = aPlace()
after(() => place.close())
const home = join(place.root, 'home')
const trees = createWorkTrees(place.git, new Places(place.git), { folder: join(home, 'checkpoints'), home })

async function take({ path }: Pick<Checkout, 'path'>): Promise<WorkState> {
  const state = await trees.take(path)
  assert.ok(state)
  return state
}

/** Names and contents of all files of a tree. */
function filesOf(checkout: Checkout, tree: string): Record<string, string> {
  const names = checkout.git('ls-tree', '-r', '-z', '--name-only', tree).split('\0').slice(0, -1)
  return Object.fromEntries(names.map((name) => [name, checkout.git('cat-file', 'blob', `${tree}:${name}`)]))
}

/** All that a checkpoint must not touch, as it is now. */
function untouched({ path, git }: Checkout): unknown {
  const dir = git('rev-parse', '--absolute-git-dir').trim()
  const read = (name: string): string => {
    const file = join(dir, name)
    return existsSync(file) ? readFileSync(file, 'latin1') : ''
  }
  const refs = git('for-each-ref')
    .split('\n')
    .filter((line) => !line.includes('refs/corral/checkpoints/'))
  const stat = existsSync(join(dir, 'index')) ? statSync(join(dir, 'index'), { bigint: true }).mtimeNs : 0n
  const names = readdirSync(dir).filter((name) => name !== 'objects')
  const logs = readdirSync(dir, { recursive: true }).filter((name) => String(name).startsWith('logs'))
  return {
    path,
    head: read('HEAD'),
    index: read('index'),
    stat,
    refs,
    names,
    logs,
    reflog: read('logs/HEAD'),
  }
}

async function restore(
  checkout: Checkout,
  target: WorkState,
  known: WorkState | null,
  force = false,
): Promise<number> {
  const saved: WorkState[] = []
  const request = { target: target.tree, known: known?.tree ?? null, force }
  const { files } = await trees.restore(checkout.path, {
    ...request,
    save: async (state) => void saved.push(state),
  })
  assert.equal(saved.length, 1)
  return files
}

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

test('restoring brings back contents, modes, links, folders and what was removed, and only that', async () => {
  const repo = place.repo('restore', {
    'a.txt': 'one\n',
    'gone.txt': 'gone\n',
    'run.sh': '#!/bin/sh\n',
    '.gitignore': 'ignored/\n',
  })
  chmodSync(join(repo.path, 'run.sh'), 0o755)
  symlinkSync('a.txt', join(repo.path, 'link'))
  repo.write('folder/x.txt', 'x\n')
  repo.write('untracked.txt', 'untracked\n')
  repo.write('ignored/cache', '1\n')
  const target = await take(repo)
  repo.write('a.txt', 'two\n')
  repo.remove('gone.txt')
  chmodSync(join(repo.path, 'run.sh'), 0o644)
  rmSync(join(repo.path, 'link'))
  repo.write('link/now-a-folder', 'x')
  repo.remove('folder')
  repo.write('folder', 'now a file')
  repo.write('made/by/the/agent.txt', 'made\n')
  repo.write('ignored/cache', '2\n')
  repo.remove('untracked.txt')
  const known = await take(repo)
  const before = untouched(repo)
  assert.equal(await restore(repo, target, known), 9)
  assert.deepEqual(untouched(repo), before)
  assert.equal((await take(repo)).tree, target.tree)
  assert.equal(readFileSync(join(repo.path, 'a.txt'), 'utf8'), 'one\n')
  assert.equal(readlinkSync(join(repo.path, 'link')), 'a.txt')
  assert.equal(statSync(join(repo.path, 'run.sh')).mode & 0o111, 0o111)
  assert.equal(existsSync(join(repo.path, 'made')), false)
  assert.equal(readFileSync(join(repo.path, 'ignored/cache'), 'utf8'), '2\n')
})

test('what somebody else has changed since is not lost, unless they say so', async () => {
  const repo = place.repo('mine', { 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' })
  const target = await take(repo)
  repo.write('a.txt', 'by the agent\n')
  repo.write('b.txt', 'by the agent\n')
  const known = await take(repo)
  repo.write('b.txt', 'by me\n')
  repo.write('c.txt', 'by me\n')
  const plan = await trees.plan(repo.path, { target: target.tree, known: known.tree })
  assert.deepEqual(
    plan.conflicts.map(({ path }) => path),
    ['b.txt', 'c.txt'],
  )
  assert.deepEqual(
    plan.files.map(({ path, status, additions, deletions }) => [path, status, additions, deletions]),
    [
      ['a.txt', 'modified', 1, 1],
      ['b.txt', 'modified', 1, 1],
      ['c.txt', 'modified', 1, 1],
    ],
  )
  await assert.rejects(restore(repo, target, known), (error: { code: string; data: { files: string[] } }) => {
    assert.equal(error.code, 'unsaved_work')
    assert.deepEqual(error.data.files, ['b.txt', 'c.txt'])
    return true
  })
  assert.equal(readFileSync(join(repo.path, 'a.txt'), 'utf8'), 'by the agent\n')
  await assert.rejects(restore(repo, target, null), { code: 'unsaved_work' })
  assert.equal(await restore(repo, target, known, true), 3)
  assert.equal(readFileSync(join(repo.path, 'c.txt'), 'utf8'), 'one\n')
})

test('what somebody has changed that restoring leaves alone is no reason to refuse', async () => {
  const repo = place.repo('elsewhere', { 'a.txt': 'one\n', 'b.txt': 'one\n' })
  repo.write('b.txt', 'by me, before\n')
  const target = await take(repo)
  repo.write('a.txt', 'by the agent\n')
  const known = await take(repo)
  repo.write('.gitignore', 'mine.txt\n')
  repo.write('mine.txt', 'mine\n')
  repo.git('add', '-f', '.gitignore')
  repo.git('commit', '-q', '-m', 'mine')
  // To go back is not to undo what was made since, but a new file would go.
  const conflicts = (await trees.plan(repo.path, { target: target.tree, known: known.tree })).conflicts
  assert.deepEqual(
    conflicts.map(({ path }) => path),
    ['.gitignore'],
  )
  repo.git('rm', '-q', '--cached', '.gitignore')
  repo.remove('.gitignore')
  repo.remove('mine.txt')
  assert.equal(await restore(repo, target, known), 1)
  assert.equal(readFileSync(join(repo.path, 'b.txt'), 'utf8'), 'by me, before\n')
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

test('what is ignored by now is not touched, although an older checkpoint has it', async () => {
  const repo = place.repo('ignored later', { 'a.txt': 'one\n' })
  repo.write('modules/m.js', 'old\n')
  repo.write('modules/gone.js', 'old\n')
  const target = await take(repo)
  repo.write('.gitignore', 'modules/\n')
  repo.write('modules/m.js', 'new\n')
  rmSync(join(repo.path, 'modules/gone.js'))
  await take(repo)
  await trees.tidy(repo.path)
  const known = await take(repo)
  assert.deepEqual(Object.keys(filesOf(repo, known.tree)), ['.gitignore', 'a.txt'])
  // Even the rule that ignores it goes.
  assert.equal(await restore(repo, target, known), 1)
  assert.equal(readFileSync(join(repo.path, 'modules/m.js'), 'utf8'), 'new\n')
  assert.equal(existsSync(join(repo.path, 'modules/gone.js')), false)
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

test('a link in place of a folder is not written through', async () => {
  const repo = place.repo('links', { 'folder/a.txt': 'one\n' })
  const outside = join(place.root, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'a.txt'), 'theirs\n')
  const target = await take(repo)
  repo.remove('folder')
  symlinkSync(outside, join(repo.path, 'folder'))
  const known = await take(repo)
  assert.equal(await restore(repo, target, known), 2)
  assert.equal(lstatSync(join(repo.path, 'folder')).isDirectory(), true)
  assert.equal(readFileSync(join(repo.path, 'folder/a.txt'), 'utf8'), 'one\n')
  assert.equal(readFileSync(join(outside, 'a.txt'), 'utf8'), 'theirs\n')
})

test('a link that is ignored stays, and nothing is written behind it', async () => {
  const repo = place.repo('ignored link', {
    'folder/a.txt': 'one\n',
    'b.txt': 'one\n',
    '.gitignore': 'folder\n',
  })
  repo.git('add', '-f', 'folder/a.txt')
  repo.git('commit', '-q', '-m', 'forced')
  const outside = join(place.root, 'outside 2')
  mkdirSync(outside)
  const target = await take(repo)
  repo.git('rm', '-q', '-r', '--cached', 'folder')
  repo.remove('folder')
  symlinkSync(outside, join(repo.path, 'folder'))
  repo.write('b.txt', 'two\n')
  const known = await take(repo)
  await assert.rejects(restore(repo, target, known), { code: 'unsaved_work' })
  assert.equal(await restore(repo, target, known, true), 1)
  assert.deepEqual(readdirSync(outside), [])
  assert.equal(readFileSync(join(repo.path, 'b.txt'), 'utf8'), 'one\n')
})

test('something that is in no checkpoint is not overwritten', async () => {
  const repo = place.repo('in the way', { 'a.txt': 'one\n', '.gitignore': 'cache\n' })
  repo.write('here.txt', 'one\n')
  repo.write('folder.x/b.txt', 'one\n')
  const target = await take(repo)
  repo.remove('here.txt')
  repo.remove('folder.x')
  repo.write('a.txt', 'two\n')
  const known = await take(repo)
  execFileSync('mkfifo', [join(repo.path, 'here.txt')])
  repo.write('folder.x/cache', 'ignored, and in the way of nothing')
  const { conflicts, files } = await trees.plan(repo.path, { target: target.tree, known: known.tree })
  assert.deepEqual(
    conflicts.map(({ path }) => path),
    ['here.txt'],
  )
  assert.deepEqual(
    files.map(({ path }) => path),
    ['a.txt', 'folder.x/b.txt'],
  )
  await assert.rejects(restore(repo, target, known), { code: 'unsaved_work' })
  assert.equal(await restore(repo, target, known, true), 2)
  assert.equal(readFileSync(join(repo.path, 'folder.x/b.txt'), 'utf8'), 'one\n')
  assert.equal(readFileSync(join(repo.path, 'folder.x/cache'), 'utf8'), 'ignored, and in the way of nothing')
  assert.equal(lstatSync(join(repo.path, 'here.txt')).isFIFO(), true)
})

test('a folder with ignored files in it is not replaced by the file that was there', async () => {
  const repo = place.repo('ignored inside', { thing: 'a file\n', '.gitignore': 'cache\n' })
  const target = await take(repo)
  repo.remove('thing')
  repo.write('thing/cache', 'precious\n')
  repo.write('thing/made.txt', 'made\n')
  const known = await take(repo)
  await assert.rejects(restore(repo, target, known), { code: 'unsaved_work' })
  await restore(repo, target, known, true)
  assert.equal(readFileSync(join(repo.path, 'thing/cache'), 'utf8'), 'precious\n')
})

test('names that are no text, and names with line feeds, come back', async () => {
  const repo = place.repo('names')
  const odd = [
    Buffer.from([0x66, 0xff, 0xfe]),
    Buffer.from('a\nb'),
    Buffer.from(' "quoted"\t'),
    Buffer.from(':(exclude)x'),
    Buffer.from('-n'),
  ]
  const at = (name: Buffer): Buffer => Buffer.concat([Buffer.from(`${repo.path}/`), name])
  for (const name of odd) writeFileSync(at(name), 'then\n')
  const target = await take(repo)
  for (const name of odd.slice(1)) writeFileSync(at(name), 'now\n')
  rmSync(at(odd[0]!))
  const known = await take(repo)
  const { files } = await trees.diff(repo.path, { from: { tree: target.tree }, to: known.tree })
  assert.deepEqual(files.map(({ path, status }) => [path, status]).sort(), [
    [' "quoted"\t', 'modified'],
    ['-n', 'modified'],
    [':(exclude)x', 'modified'],
    ['a\nb', 'modified'],
    ['f\uFFFD\uFFFD', 'deleted'],
  ])
  assert.ok(files.every(({ hunks }) => hunks.length === 1))
  assert.equal(await restore(repo, target, known), 5)
  for (const name of odd) assert.equal(readFileSync(at(name), 'utf8'), 'then\n')
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

test('a directory in the middle of a repository is there again after restoring', async () => {
  const repo = place.repo('middle')
  const target = await take(repo)
  repo.write('sub/made.txt', 'made\n')
  const cwd = join(repo.path, 'sub')
  const known = await trees.take(cwd)
  assert.equal(known!.repository, join(repo.path, '.git'))
  await trees.restore(cwd, { target: target.tree, known: known!.tree, force: false, save: async () => {} })
  assert.deepEqual(readdirSync(cwd), [])
})

test('submodules and repositories within are left as they are', async () => {
  const inner = place.repo('inner')
  const outer = place.repo('outer')
  outer.git('submodule', '--quiet', 'add', inner.path, 'sub')
  outer.commit('with sub')
  outer.write('a.txt', 'one\n')
  const target = await take(outer)
  const sub = checkoutAt(join(outer.path, 'sub'), place.env)
  sub.write('a.txt', 'inside\n')
  sub.commit('inside')
  outer.write('a.txt', 'two\n')
  outer.write('nested/file.txt', 'x\n')
  checkoutAt(join(outer.path, 'nested'), place.env).git('init', '-q')
  const known = await take(outer)
  assert.equal(await restore(outer, target, known), 1)
  assert.equal(readFileSync(join(outer.path, 'a.txt'), 'utf8'), 'one\n')
  assert.equal(readFileSync(join(outer.path, 'sub/a.txt'), 'utf8'), 'inside\n')
  assert.equal(readFileSync(join(outer.path, 'nested/file.txt'), 'utf8'), 'x\n')
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

test('files with a filter of the repository itself are neither written down in clear nor written', async () => {
  const repo = place.repo('filter', {
    'a.txt': 'one\n',
    'secret.txt': 'one\n',
    '.gitattributes': 'secret* filter=x\n',
  })
  const trap = place.trap()
  for (const part of ['clean', 'smudge']) repo.git('config', `filter.x.${part}`, trap.command)
  repo.git('config', 'filter.x.required', 'true')
  const target = await take(repo)
  repo.write('secret.txt', 'in clear\n')
  repo.write('secret-2.txt', 'in clear, too\n')
  repo.write('a.txt', 'two\n')
  const known = await take(repo)
  assert.deepEqual(known.left, ['secret-2.txt', 'secret.txt'])
  assert.equal(filesOf(repo, known.tree)['secret.txt'], 'one\n')
  assert.equal(await restore(repo, target, known), 1)
  assert.equal(readFileSync(join(repo.path, 'secret.txt'), 'utf8'), 'in clear\n')
  assert.equal(trap.ran(), false)
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
      home,
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
