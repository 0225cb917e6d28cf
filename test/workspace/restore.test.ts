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
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { aKeptPlace, filesOf, untouched } from './checkpoint-support.ts'
import { checkoutAt } from './support.ts'

const place = aKeptPlace()
after(() => place.close())
const { trees, take, restore } = place

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
  assert.deepEqual(
    files.map(({ path, status }) => [path, status]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    [
      [' "quoted"\t', 'modified'],
      ['-n', 'modified'],
      [':(exclude)x', 'modified'],
      ['a\nb', 'modified'],
      ['f\uFFFD\uFFFD', 'deleted'],
    ],
  )
  assert.ok(files.every(({ hunks }) => hunks.length === 1))
  assert.equal(await restore(repo, target, known), 5)
  for (const name of odd) assert.equal(readFileSync(at(name), 'utf8'), 'then\n')
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
