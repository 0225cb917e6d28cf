import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createGit, gitEnvironment } from '../../src/workspace/git.ts'
import { openRepository } from '../../src/workspace/repository.ts'
import { parseUnifiedDiff } from '../../src/workspace/unified.ts'
import { createWorktrees } from '../../src/workspace/worktree.ts'
import { Places } from '../../src/workspace/place.ts'
import { createWorkTrees } from '../../src/workspace/work-trees.ts'
import { until } from '../support/wait.ts'
import { aPlace, hasEnded, type Checkout } from './support.ts'

const place = aPlace()
after(() => place.close())
const worktrees = createWorktrees()
const home = join(place.root, 'home')
const trees = createWorkTrees(place.git, new Places(place.git), { folder: join(home, 'checkpoints'), home })

/** Everything that we ever do with a repository, as far as it lets us. */
async function doEverything(checkout: Checkout, id: string): Promise<void> {
  const repo = await openRepository(place.git, checkout.path)
  await repo.status()
  await repo.diff({ untracked: true })
  await repo.diff({ staged: true })
  await repo.fileDiff('a.txt')
  await repo.files()
  const target = (await trees.take(checkout.path))!
  writeFileSync(join(checkout.path, 'untracked.txt'), 'new\n')
  const known = (await trees.take(checkout.path))!
  await trees.keep(known.repository, { set: [[`refs/corral/checkpoints/s/${id}`, known.tree]], remove: [] })
  await trees.tidy(checkout.path)
  for (const from of ['head', { tree: target.tree }, { branchOf: id }] as const)
    await trees.diff(checkout.path, { from, to: null })
  const request = { target: target.tree, known: known.tree }
  await trees.plan(checkout.path, request)
  await trees.restore(checkout.path, { ...request, force: false, save: async () => {} })
  await trees.forget(known.repository, 's')
  const path = join(place.root, `worktree-${id}`)
  const made = await worktrees.create(repo, { id, path, carry: true })
  writeFileSync(join(made.path, 'a.txt'), 'one\ntwo\nthree\nfour\n')
  writeFileSync(join(made.path, 'new.txt'), 'new\n')
  await worktrees.diff(repo, id)
  await worktrees.merge(repo, id)
  await worktrees.discard(repo, id, { force: true })
}

/** What a repository may bring along in its own settings; each with a way to make sure that it would work. */
const SETTINGS: [
  name: string,
  settings: (command: string) => [string, string][],
  attributes: string,
  bait: string[],
][] = [
  ['fsmonitor', (command) => [['core.fsmonitor', command]], '', ['status']],
  ['external diff', (command) => [['diff.external', command]], '', ['diff']],
  ['diff driver', (command) => [['diff.x.command', command]], '* diff=x', ['diff']],
  ['textconv', (command) => [['diff.x.textconv', command]], '* diff=x', ['diff']],
  [
    'signature',
    (c) => [
      ['commit.gpgSign', 'true'],
      ['gpg.program', c],
    ],
    '',
    ['commit', '--allow-empty', '-m', 'x'],
  ],
  ['editor', (command) => [['core.editor', command]], '', ['commit', '--allow-empty']],
]

for (const [name, settings, attributes, bait] of SETTINGS) {
  test(`a repository cannot start a program by its settings: ${name}`, async () => {
    const checkout = place.repo(name, { 'a.txt': 'one\n', '.gitattributes': `${attributes}\n` })
    checkout.write('a.txt', 'two\n')
    const trap = place.trap()
    for (const [key, value] of settings(trap.command)) checkout.git('config', key, value)
    await doEverything(checkout, `id-${name.replaceAll(' ', '-')}`)
    assert.equal(trap.ran(), false)
    checkout.write('a.txt', 'changed once more\n')
    try {
      checkout.git(...bait)
    } catch {}
    assert.equal(trap.ran(), true, 'the trap is one')
  })
}

const LATER: [name: string, change: (checkout: Checkout, command: string) => void][] = [
  ['in its own file', (checkout, command) => checkout.git('config', 'filter.x.clean', command)],
  [
    'by an include that has been there before',
    (checkout, command) => checkout.git('config', '--file', '.git/extra', 'filter.x.clean', command),
  ],
  [
    'in a file that is looked at from now on',
    (checkout, command) => {
      checkout.git('config', 'extensions.worktreeConfig', 'true')
      checkout.git('config', '--worktree', 'filter.x.clean', command)
    },
  ],
]

for (const [name, change] of LATER) {
  test(`settings that are known are read again when there are others: ${name}`, async () => {
    const checkout = place.repo(`later ${name}`, { 'a.txt': 'one\n', '.gitattributes': 'a.txt filter=x\n' })
    if (name.includes('include')) checkout.git('config', 'include.path', 'extra')
    const { ctimeMs } = statSync(join(checkout.path, '.git/config'))
    await until(() => Date.now() - ctimeMs > 1100, 'the settings are no longer new')
    await trees.take(checkout.path)
    await trees.take(checkout.path)
    const trap = place.trap()
    change(checkout, trap.command)
    checkout.write('a.txt', 'changed\n')
    const { left } = (await trees.take(checkout.path))!
    assert.deepEqual(left, ['a.txt'])
    assert.equal(trap.ran(), false)
    checkout.git('add', 'a.txt')
    assert.equal(trap.ran(), true, 'the trap is one')
  })
}

test('hooks do not run', async () => {
  const checkout = place.repo('hooks')
  const trap = place.trap()
  const names = ['pre-commit', 'post-checkout', 'post-merge', 'post-index-change', 'reference-transaction']
  for (const name of [...names, 'pre-merge-commit', 'prepare-commit-msg', 'post-commit']) {
    const hook = join(checkout.path, '.git/hooks', name)
    mkdirSync(join(checkout.path, '.git/hooks'), { recursive: true })
    writeFileSync(hook, `#!/bin/sh\nexec ${trap.command} </dev/null\n`)
    chmodSync(hook, 0o755)
  }
  await doEverything(checkout, 'hooks')
  assert.equal(trap.ran(), false)
  checkout.git('commit', '-q', '--allow-empty', '-m', 'x')
  assert.equal(trap.ran(), true, 'the trap is one')
})

for (const name of ['crypt', 'a=b', 'with space.clean']) {
  test(`filters of the repository's own do not run, and nothing is written without them: ${name}`, async () => {
    const checkout = place.repo(`filter ${name}`, { 'a.txt': 'one\n', 'b.txt': 'two\n' })
    const trap = place.trap()
    for (const part of ['clean', 'smudge'])
      checkout.git('config', '--file', '.git/extra', `filter.${name}.${part}`, trap.command)
    checkout.git('config', '--file', '.git/extra', `filter.${name}.required`, 'true')
    // Through an include, as settings that do not want to be seen come.
    checkout.git('config', 'include.path', 'extra')
    const attribute = name.includes(' ') ? 'plain' : name
    checkout.write('.git/info/attributes', `a.txt filter=${attribute}\n`)
    checkout.write('a.txt', 'changed\n')
    const repo = await openRepository(place.git, checkout.path)
    assert.deepEqual(
      (await repo.status()).files.map(({ path }) => path),
      ['a.txt'],
    )
    assert.equal(parseUnifiedDiff((await repo.diff({ untracked: true })).text).length, 1)
    const id = `f${name.length}`
    const request = { id, path: join(place.root, id), carry: true }
    if (attribute === name) await assert.rejects(worktrees.create(repo, request), { code: 'unsupported' })
    else await worktrees.create(repo, request)
    assert.equal(trap.ran(), false)
    if (attribute !== name) return
    checkout.git('add', 'a.txt')
    assert.equal(trap.ran(), true, 'the trap is one')
  })
}

for (const condition of ['onbranch:corral/**', 'gitdir:**/worktrees/**']) {
  test(`a filter that is there only once a worktree is does not run: ${condition}`, async () => {
    const files = { 'a.txt': 'one\n', '.gitattributes': 'a.txt filter=x\n' }
    const checkout = place.repo(`for ${condition.length}`, files)
    const trap = place.trap()
    checkout.git('config', '--file', '.git/extra', 'filter.x.smudge', trap.command)
    checkout.git('config', `includeIf.${condition}.path`, 'extra')
    const repo = await openRepository(place.git, checkout.path)
    const request = { id: `only${condition.length}`, path: join(place.root, `only${condition.length}`) }
    await assert.rejects(worktrees.create(repo, request), { code: 'unsupported' })
    assert.equal(trap.ran(), false)
    assert.equal(existsSync(request.path), false)
    checkout.git('worktree', 'add', '-q', '-b', 'corral/x', request.path)
    assert.equal(trap.ran(), true, 'the trap is one')
  })
}

test('a filter with a name that is no text makes a repository unusable rather than dangerous', async () => {
  const checkout = place.repo('bytes')
  const trap = place.trap()
  const section = Buffer.concat([
    Buffer.from('[filter "'),
    Buffer.from([0xff]),
    Buffer.from(`"]\nclean=${trap.command}\n`),
  ])
  writeFileSync(join(checkout.path, '.git/info/attributes'), Buffer.from('* filter=\xff\n', 'latin1'))
  writeFileSync(join(checkout.path, '.git/config'), section, { flag: 'a' })
  checkout.write('a.txt', 'changed\n')
  const repo = await openRepository(place.git, checkout.path)
  await assert.rejects(repo.status(), { code: 'git_failed' })
  assert.equal(trap.ran(), false)
})

test('a merge driver of the repository is replaced by an ordinary merge', async () => {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`)
  const text = (change: Record<number, string>): string =>
    lines.map((line, n) => `${change[n] ?? line}\n`).join('')
  const checkout = place.repo('driver', { 'a.txt': text({}), '.gitattributes': 'a.txt merge=x\n' })
  const trap = place.trap()
  checkout.git('config', 'merge.x.driver', trap.command)
  const repo = await openRepository(place.git, checkout.path)
  const made = await worktrees.create(repo, { id: 'driver', path: join(place.root, 'driver-worktree') })
  writeFileSync(join(made.path, 'a.txt'), text({ 2: 'theirs' }))
  checkout.write('a.txt', text({ 15: 'ours' }))
  checkout.commit()
  const merged = await worktrees.merge(repo, 'driver')
  assert.equal(merged.outcome, 'merged')
  assert.equal(checkout.git('show', 'HEAD:a.txt'), text({ 2: 'theirs', 15: 'ours' }))
  assert.equal(trap.ran(), false)
})

/** Ways to make a merge that only moves forward into another one, which is committed, signed and drops the work. */
const MERGES: [name: string, settings: [string, string][]][] = [
  ['options', [['branch.main.mergeOptions', '--strategy=ours --gpg-sign']]],
  ['squash', [['branch.main.mergeOptions', '--squash']]],
  ['strategy', [['pull.twohead', 'ours']]],
]

for (const [name, settings] of MERGES) {
  test(`a merge is the one that we want, whatever the settings: ${name}`, async () => {
    const checkout = place.repo(`merge ${name}`)
    const trap = place.trap('exit 1')
    checkout.git('config', 'gpg.program', trap.command)
    for (const [key, value] of settings) checkout.git('config', key, value)
    const repo = await openRepository(place.git, checkout.path)
    const { path } = await worktrees.create(repo, { id: name, path: join(place.root, `of-${name}`) })
    writeFileSync(join(path, 'new.txt'), 'new\n')
    const merged = await worktrees.merge(repo, name)
    assert.equal(merged.outcome === 'merged' && merged.commit, checkout.git('rev-parse', 'HEAD').trim())
    assert.equal(checkout.git('show', 'HEAD:new.txt'), 'new\n')
    assert.equal(trap.ran(), false)
  })
}

test('what a submodule configures does not run either', async () => {
  const inner = place.repo('inner')
  const checkout = place.repo('outer', { 'a.txt': 'one\n' })
  checkout.git('submodule', '--quiet', 'add', inner.path, 'sub')
  checkout.commit()
  const trap = place.trap()
  checkout.git('-C', 'sub', 'config', 'core.fsmonitor', trap.command)
  checkout.git('-C', 'sub', 'config', 'filter.x.clean', trap.command)
  checkout.write('sub/.gitattributes', '* filter=x\n')
  checkout.write('sub/a.txt', 'dirty\n')
  await doEverything(checkout, 'submodule')
  assert.equal(trap.ran(), false)
  checkout.git('status')
  assert.equal(trap.ran(), true, 'the trap is one')
})

test('nothing is fetched, whatever the settings allow', async () => {
  const checkout = place.repo('promisor', { 'a.txt': 'one\n' })
  const trap = place.trap('exit 1')
  const blob = checkout.git('rev-parse', 'HEAD:a.txt').trim()
  checkout.git('config', 'remote.origin.url', `ext::${trap.command}`)
  checkout.git('config', 'remote.origin.promisor', 'true')
  checkout.git('config', 'extensions.partialClone', 'origin')
  checkout.git('config', 'core.repositoryFormatVersion', '1')
  checkout.git('config', 'protocol.ext.allow', 'always')
  checkout.remove(`.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`)
  checkout.write('a.txt', 'changed\n')
  const repo = await openRepository(place.git, checkout.path)
  await repo.status()
  await assert.rejects(repo.diff(), { code: 'git_failed' })
  assert.equal(trap.ran(), false)
  assert.throws(() => checkout.git('diff'))
  assert.equal(trap.ran(), true, 'the trap is one')
})

test('a repository cannot claim a folder that is not its own', async () => {
  for (const claimed of [place.root, '/', join(place.root, 'elsewhere')]) {
    mkdirSync(join(place.root, 'elsewhere'), { recursive: true })
    const checkout = place.repo(`claims ${claimed.length}`)
    checkout.git('config', 'core.worktree', claimed)
    await assert.rejects(openRepository(place.git, checkout.path), { code: 'repo_not_found' })
  }
})

test('branches with names like options', async () => {
  const checkout = place.repo('options')
  checkout.git('update-ref', 'refs/heads/--output=pwned', 'HEAD')
  checkout.git('symbolic-ref', 'HEAD', 'refs/heads/--output=pwned')
  const repo = await openRepository(place.git, checkout.path)
  assert.equal((await repo.status()).branch, '--output=pwned')
  await doEverything(checkout, 'options')
  assert.equal((await repo.status()).isClean, true)
  assert.equal(checkout.git('log', '--format=%s', '-1').trim(), 'Work of session options')
})

test('our own environment does not lead git elsewhere', () => {
  const env = gitEnvironment({
    GIT_DIR: '/x',
    GIT_EXTERNAL_DIFF: 'y',
    PATH: '.:/usr/bin:bin',
    HOME: '/h',
    LD_PRELOAD: 'z',
  })
  assert.equal(env['PATH'], '/usr/bin')
  assert.equal(env['HOME'], '/h')
  for (const name of ['GIT_DIR', 'GIT_EXTERNAL_DIFF', 'LD_PRELOAD']) assert.equal(env[name], undefined)
})

test('a git that hangs is ended with all that it started; one that talks too much too', async (t) => {
  const checkout = place.repo('slow', { 'a.txt': 'x\n'.repeat(100_000) })
  const git = createGit(place.env)
  const pidFile = join(place.root, 'pid')
  const alias = `!sh -c 'echo $$ > ${pidFile}; sleep 1000 & wait'`
  const request = { cwd: checkout.path, args: ['-c', `alias.hang=${alias}`, 'hang'], timeoutMs: 60_000 }
  // Its time is over when it hangs, however long that takes.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const slow = assert.rejects(git.run(request), { code: 'git_failed', message: /too long/ })
  while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await setImmediate()
  t.mock.timers.tick(60_000)
  t.mock.timers.reset()
  await slow
  const pid = Number(readFileSync(pidFile, 'utf8'))
  await until(() => hasEnded(pid), 'the end of what git started')
  const loud = { cwd: checkout.path, args: ['show', 'HEAD:a.txt'], maxBytes: 1000 }
  await assert.rejects(git.run(loud), { code: 'git_failed', message: /too much/ })
  const cut = await git.run({ ...loud, truncate: true })
  assert.deepEqual([cut.stdout.length, cut.truncated], [1000, true])
  rmSync(pidFile)
  const hanging = git.run(request)
  const ended = assert.rejects(hanging, { code: 'git_failed' })
  await until(() => existsSync(pidFile), 'a git that hangs')
  git.close()
  await ended
  await assert.rejects(git.run(loud), { code: 'stopping' })
})

test('no git at all', async () => {
  const git = createGit({ PATH: place.root })
  await assert.rejects(openRepository(git, place.root), { code: 'git_failed' })
})
