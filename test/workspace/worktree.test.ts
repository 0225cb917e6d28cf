import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openRepository, type Repository } from '../../src/workspace/repository.ts'
import { parseUnifiedDiff } from '../../src/workspace/unified.ts'
import { createWorktrees } from '../../src/workspace/worktree.ts'
import { aPlace, checkoutAt, type Checkout } from './support.ts'

const place = aPlace()
after(() => place.close())
const worktrees = createWorktrees()
let count = 0

interface Setup {
  readonly id: string
  readonly main: Checkout
  readonly repo: Repository
  readonly side: Checkout
}

/** A repository and a worktree of a session; `prepare` changes the repository before that. */
async function aWorktree(
  options: { carry?: boolean; prepare?: (main: Checkout) => void } = {},
): Promise<Setup> {
  const id = `s${count++}`
  const main = place.repo(`repo ${id}`, { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' })
  options.prepare?.(main)
  const repo = await openRepository(place.git, main.path)
  const path = join(place.root, 'work trees', id)
  const made = await worktrees.create(repo, { id, path, carry: options.carry ?? false })
  assert.deepEqual([made.path, made.branch], [path, `corral/${id}`])
  return { id, main, repo, side: checkoutAt(path, place.env) }
}

const show = (checkout: Checkout, what: string): string => checkout.git('show', what)
const isClean = (checkout: Checkout): boolean => checkout.git('status', '--porcelain') === ''

test('a worktree starts at HEAD, is listed, and shows what was done in it', async () => {
  const { id, main, repo, side } = await aWorktree()
  main.write('a.txt', 'uncommitted\n')
  assert.equal(readFileSync(join(side.path, 'a.txt'), 'utf8'), 'one\ntwo\nthree\n')
  const head = main.git('rev-parse', 'HEAD').trim()
  const about = { path: side.path, from: main.path, branch: `corral/${id}`, head, base: head }
  const entry = { id, ...about, made: `corral/${id}`, isCarried: false, isMissing: false, isLeftOver: false }
  assert.deepEqual(await worktrees.list(repo), [entry])
  side.write('a.txt', 'one\n2\nthree\n')
  side.commit()
  side.write('new\nfile', 'x\n')
  side.remove('b.txt')
  const { text } = await worktrees.diff(repo, id)
  const changes = parseUnifiedDiff(text).map(({ change, path }) => `${change} ${path}`)
  assert.deepEqual(changes, ['modified a.txt', 'deleted b.txt', 'added new\nfile'])
  // The same seen from the worktree itself, which is a checkout of that repository.
  assert.equal((await worktrees.list(await openRepository(place.git, side.path))).length, 1)
})

test('merging: nothing, forward, and a real merge, again and again', async () => {
  const { id, main, repo, side } = await aWorktree()
  assert.deepEqual(await worktrees.merge(repo, id), { outcome: 'nothing' })
  side.write('new', 'x\n')
  side.remove('b.txt')
  const forward = await worktrees.merge(repo, id, 'A message\n\nof two parts')
  assert.equal(forward.outcome === 'merged' && forward.how, 'fast-forward')
  assert.equal(show(main, 'HEAD:new'), 'x\n')
  assert.equal(existsSync(join(main.path, 'b.txt')), false)
  assert.equal(
    main.git('log', '-1', '--format=%B|%an|%ae').trim(),
    'A message\n\nof two parts\n|Corral|corral@localhost',
  )
  assert.ok(isClean(main) && isClean(side))
  assert.deepEqual(await worktrees.merge(repo, id), { outcome: 'nothing' })
  main.write('mine', '1\n')
  main.commit()
  main.git('config', 'user.name', 'Some One')
  main.git('config', 'user.email', 'some@example.com')
  side.write('a.txt', 'one\ntwo\n3\n')
  const merge = await worktrees.merge(repo, id)
  assert.equal(merge.outcome === 'merged' && merge.how, 'merge')
  assert.equal(main.git('log', '-1', '--format=%an <%ae>').trim(), 'Some One <some@example.com>')
  assert.deepEqual([show(main, 'HEAD:mine'), show(main, 'HEAD:a.txt')], ['1\n', 'one\ntwo\n3\n'])
  assert.equal((await worktrees.diff(repo, id)).text, '')
  side.write('a.txt', 'one\ntwo\nfour\n')
  assert.equal((await worktrees.merge(repo, id)).outcome, 'merged')
  assert.ok(isClean(main))
})

test('a conflict leaves the checkout alone, and says where', async () => {
  const { id, main, repo, side } = await aWorktree()
  main.write('a.txt', 'ours\n')
  main.write('ä b', 'ours\n')
  const head = main.commit()
  main.write('c', 'uncommitted')
  side.write('a.txt', 'theirs\n')
  side.write('ä b', 'theirs\n')
  assert.deepEqual(await worktrees.merge(repo, id), { outcome: 'conflict', files: ['a.txt', 'ä b'] })
  assert.equal(main.git('rev-parse', 'HEAD').trim(), head)
  assert.equal(main.git('status', '--porcelain').trim(), '?? c')
  assert.ok(isClean(side), 'the work is committed, not lost')
  // Solved in the worktree, it merges.
  assert.throws(() => side.git('merge', '-q', 'main'))
  assert.deepEqual(await worktrees.merge(repo, id), { outcome: 'blocked', why: 'unfinished', files: [] })
  side.write('a.txt', 'both\n')
  side.write('ä b', 'both\n')
  side.commit('solved')
  assert.equal((await worktrees.merge(repo, id)).outcome, 'merged')
  assert.equal(show(main, 'HEAD:a.txt'), 'both\n')
})

test('uncommitted changes are in the way only where the merge needs the file', async () => {
  const { id, main, repo, side } = await aWorktree()
  main.write('b.txt', 'my own\n')
  main.write('fresh', 'mine\n')
  side.write('a.txt', 'theirs\n')
  assert.equal((await worktrees.merge(repo, id)).outcome, 'merged')
  side.write('b.txt', 'theirs\n')
  side.write('fresh', 'theirs\n')
  const head = main.git('rev-parse', 'HEAD')
  const blocked = { outcome: 'blocked', why: 'uncommitted', files: ['b.txt', 'fresh'] }
  assert.deepEqual(await worktrees.merge(repo, id), blocked)
  assert.equal(main.git('rev-parse', 'HEAD'), head)
  assert.equal(readFileSync(join(main.path, 'fresh'), 'utf8'), 'mine\n')
})

test('a file that is ignored here is not overwritten either', async () => {
  const { id, main, repo, side } = await aWorktree({
    prepare: (main) => main.write('.git/info/exclude', 'secret\n'),
  })
  main.write('secret', 'mine')
  side.write('secret', 'theirs')
  side.git('add', '-f', 'secret')
  await assert.rejects(worktrees.merge(repo, id), { code: 'git_failed' })
  assert.equal(readFileSync(join(main.path, 'secret'), 'utf8'), 'mine')
})

test('uncommitted work can come along, and is left out of the merge', async () => {
  const { id, main, repo, side } = await aWorktree({
    carry: true,
    prepare(main) {
      main.write('a.txt', 'ONE\ntwo\nthree\n')
      main.write('staged', 's\n')
      main.git('add', 'staged')
      main.git('mv', 'b.txt', 'c.txt')
      main.write('-new\n', 'n\n')
      main.git('init', '-q', 'nested')
    },
  })
  const before = main.git('status', '--porcelain')
  assert.equal(readFileSync(join(side.path, 'a.txt'), 'utf8'), 'ONE\ntwo\nthree\n')
  assert.deepEqual(side.git('ls-files', '-z').split('\0').sort(), ['', '-new\n', 'a.txt', 'c.txt', 'staged'])
  assert.ok(isClean(side))
  assert.equal((await worktrees.diff(repo, id)).text, '')
  side.write('work', 'w\n')
  const merged = await worktrees.merge(repo, id)
  assert.equal(merged.outcome === 'merged' && merged.how, 'squash')
  assert.equal(main.git('status', '--porcelain'), before)
  assert.equal(main.git('diff', '--name-only', 'HEAD~').includes('work'), true)
  assert.equal(main.git('log', '--format=%s').includes('carried'), false)
  // The same file as the user's: not before that is committed.
  side.write('a.txt', 'ONE\ntwo\nTHREE\n')
  assert.deepEqual(await worktrees.merge(repo, id), {
    outcome: 'blocked',
    why: 'uncommitted',
    files: ['a.txt'],
  })
  main.git('commit', '-qam', 'mine')
  const second = await worktrees.merge(repo, id)
  assert.equal(second.outcome === 'merged' && second.how, 'squash')
  assert.equal(show(main, 'HEAD:a.txt'), 'ONE\ntwo\nTHREE\n')
  assert.deepEqual(await worktrees.merge(repo, id), { outcome: 'nothing' })
  await worktrees.discard(repo, id)
})

test('discarding loses nothing without force', async () => {
  const { id, main, repo, side } = await aWorktree()
  side.write('new', '1')
  await assert.rejects(worktrees.discard(repo, id), {
    code: 'unsaved_work',
    data: { id, files: ['new'], commits: 0 },
  })
  side.commit()
  await assert.rejects(worktrees.discard(repo, id), {
    code: 'unsaved_work',
    message: /: 1 commit;/,
    data: { id, files: [], commits: 1 },
  })
  for (const name of ['second', 'third']) side.write(name, '1')
  side.commit()
  await assert.rejects(worktrees.discard(repo, id), { message: /: 2 commits;/ })
  assert.ok(existsSync(join(side.path, 'new')))
  await worktrees.discard(repo, id, { force: true })
  assert.equal(existsSync(side.path), false)
  assert.deepEqual(await worktrees.list(repo), [])
  assert.equal(main.git('for-each-ref', '--format=%(refname)').trim(), 'refs/heads/main')
  await assert.rejects(worktrees.discard(repo, id), { code: 'repo_not_found' })
})

test('what was merged, or is on another branch, is not lost', async () => {
  const merged = await aWorktree()
  merged.side.write('new', '1')
  await worktrees.merge(merged.repo, merged.id)
  await worktrees.discard(merged.repo, merged.id)
  const branched = await aWorktree()
  branched.side.git('checkout', '-q', '-b', 'feature')
  branched.side.write('new', '1')
  branched.side.commit()
  await worktrees.discard(branched.repo, branched.id)
  assert.equal(show(branched.main, 'feature:new'), '1')
})

test('the list says which folders are gone, and which refs were left', async () => {
  const { id, main, repo, side } = await aWorktree()
  const missing = async () => (await worktrees.list(repo)).filter(({ isMissing }) => isMissing)
  assert.deepEqual(await missing(), [])
  assert.equal((await worktrees.list(repo)).length, 1)
  rmSync(side.path, { recursive: true })
  main.git('update-ref', 'refs/corral/left/base', 'HEAD')
  main.git('worktree', 'prune')
  const orphans = await missing()
  assert.deepEqual(
    orphans.map(({ id, isMissing, isLeftOver }) => [id, isMissing, isLeftOver]),
    [
      [id, true, false],
      ['left', true, true],
    ],
  )
  for (const orphan of orphans) await worktrees.discard(repo, orphan.id)
  assert.equal(main.git('for-each-ref', '--format=%(refname)').trim(), 'refs/heads/main')
})

test('worktrees of the user are none of ours', async () => {
  const { id, main, repo } = await aWorktree()
  main.git('worktree', 'add', '-q', '--lock', join(place.root, `users ${id}`), '-b', 'own')
  assert.deepEqual(
    (await worktrees.list(repo)).map((entry) => entry.id),
    [id],
  )
})

test('heads that are no branch: detached is fine to start from, but nothing to merge into', async () => {
  const { id, repo, side, main } = await aWorktree({
    prepare: (main) => main.git('checkout', '-q', '--detach'),
  })
  side.write('new', '1')
  assert.deepEqual(await worktrees.merge(repo, id), { outcome: 'blocked', why: 'detached', files: [] })
  main.git('checkout', '-q', 'main')
  assert.equal((await worktrees.merge(repo, id)).outcome, 'merged')
  const unborn = await openRepository(place.git, place.repo('unborn', {}).path)
  const request = { id: 'x', path: join(place.root, 'x') }
  await assert.rejects(worktrees.create(unborn, request), { code: 'unsupported' })
  assert.equal(existsSync(request.path), false)
})

test('a worktree beside a bare repository has worktrees too', async () => {
  const main = place.repo('source')
  main.git('clone', '-q', '--bare', '.', '../bare.git')
  main.git('--git-dir=../bare.git', 'worktree', 'add', '-q', '../beside', '-b', 'beside')
  const repo = await openRepository(place.git, join(place.root, 'beside'))
  const path = join(place.root, 'of-bare')
  await worktrees.create(repo, { id: 'bare', path })
  checkoutAt(path, place.env).write('new', '1')
  assert.equal((await worktrees.merge(repo, 'bare')).outcome, 'merged')
  assert.equal(existsSync(join(place.root, 'beside', 'new')), true)
  await worktrees.discard(repo, 'bare')
})

test('a name that is not UTF-8 is shown, and refused where it would be left out', async () => {
  const { id, main, repo, side } = await aWorktree()
  writeFileSync(Buffer.from(`${side.path}/caf\xe9`, 'latin1'), 'x\n')
  side.write('other', 'y\n')
  const files = parseUnifiedDiff((await worktrees.diff(repo, id)).text)
  assert.deepEqual(
    files.map(({ path, hunks }) => [path, hunks.length]),
    [
      ['caf\uFFFD', 1],
      ['other', 1],
    ],
  )
  await assert.rejects(worktrees.merge(repo, id), { code: 'unsupported' })
  assert.equal(isClean(main), true)
})

test('places and names that will not do', async () => {
  const { id, main, repo } = await aWorktree()
  symlinkSync(main.path, join(place.root, 'link to main'))
  const fine = join(place.root, 'fine')
  const bad = [
    { id: 'in', path: join(main.path, 'inside') },
    { id: 'in', path: join(place.root, 'link to main', 'inside') },
    { id: 'in', path: join(main.path, '.git', 'inside') },
    ...['../up', '-d', 'a b', '', 'x'.repeat(65), 'a..b', id].map((name) => ({ id: name, path: fine })),
  ]
  for (const request of bad)
    await assert.rejects(worktrees.create(repo, request), { code: 'invalid' }, request.id)
  await assert.rejects(worktrees.create(repo, { id: 'taken', path: join(main.path, '..') }), {
    code: 'git_failed',
  })
  assert.deepEqual(
    (await worktrees.list(repo)).map((entry) => entry.id),
    [id],
  )
  assert.equal(existsSync(fine), false)
})

test('a branch of the name corral leaves another name', async () => {
  const main = place.repo('corral-branch')
  main.git('branch', 'corral')
  const repo = await openRepository(place.git, main.path)
  const made = await worktrees.create(repo, { id: 'x', path: join(place.root, 'cb') })
  assert.equal(made.branch, 'corral-x')
  await worktrees.discard(repo, 'x')
  assert.equal(main.git('branch', '--format=%(refname:short)').trim(), 'corral\nmain')
})

test('several sessions of one repository at once', async () => {
  const main = place.repo('several')
  const repo = await openRepository(place.git, main.path)
  const ids = ['a', 'b', 'c', 'd']
  const path = (id: string): string => join(place.root, 'several-trees', id)
  await Promise.all(ids.map((id) => worktrees.create(repo, { id, path: path(id) })))
  for (const id of ids) checkoutAt(path(id), place.env).write(`file-${id}`, id)
  const outcomes = await Promise.all(ids.map((id) => worktrees.merge(repo, id)))
  assert.deepEqual(
    outcomes.map(({ outcome }) => outcome),
    ids.map(() => 'merged'),
  )
  for (const id of ids) assert.equal(show(main, `HEAD:file-${id}`), id)
  await Promise.all(ids.map((id) => worktrees.discard(repo, id)))
  assert.ok(isClean(main))
})

test('submodules stay as they are', async () => {
  const inner = place.repo('inner')
  const { id, repo, side, main } = await aWorktree({
    prepare(main) {
      main.git('submodule', '--quiet', 'add', inner.path, 'sub')
      main.commit()
    },
  })
  side.write('new', '1')
  assert.equal((await worktrees.merge(repo, id)).outcome, 'merged')
  assert.ok(isClean(main))
  assert.equal(existsSync(join(main.path, 'sub', 'a.txt')), true)
  await worktrees.discard(repo, id)
})

test('a filter of the user, such as that of large files, does its work', async () => {
  const config = join(place.root, 'user.gitconfig')
  const user = aPlace({ GIT_CONFIG_GLOBAL: config })
  try {
    const main = user.repo('lfs', { '.gitattributes': '*.bin filter=lfs\n' })
    main.git('config', '--global', 'filter.lfs.clean', 'tr a-z A-Z')
    main.git('config', '--global', 'filter.lfs.smudge', 'tr A-Z a-z')
    main.git('config', '--global', 'filter.lfs.required', 'true')
    const repo = await openRepository(user.git, main.path)
    const path = join(user.root, 'tree')
    await worktrees.create(repo, { id: 'lfs', path })
    checkoutAt(path, user.env).write('x.bin', 'large')
    assert.equal((await worktrees.merge(repo, 'lfs')).outcome, 'merged')
    assert.equal(show(main, 'HEAD:x.bin'), 'LARGE')
    assert.equal(readFileSync(join(main.path, 'x.bin'), 'utf8'), 'large')
  } finally {
    user.close()
  }
})
