import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { DirectoryWatch } from '../../src/workspace/directories.ts'
import { PACE } from '../../src/workspace/pace.ts'
import { openRepository } from '../../src/workspace/repository.ts'
import type { RepoStatus } from '../../src/workspace/status.ts'
import { Watcher, type WatcherOptions } from '../../src/workspace/watch.ts'
import { arrival, until } from '../support/wait.ts'
import { aPlace, inotifyWatches, type Checkout } from './support.ts'

const place = aPlace()
after(() => place.close())
const open: Watcher[] = []
afterEach(async () => {
  for (const watcher of open.splice(0)) await watcher.closeAll()
})

interface Seen {
  readonly watcher: Watcher
  readonly events: { root: string; status: RepoStatus }[]
  readonly problems: { root: string; why: string; isGone: boolean }[]
  /** The newest status of a repository, as the events tell it. */
  newest(checkout: Checkout): RepoStatus | undefined
}

/** Short waits, so that the tests are quick; what they wait for is a fact all the same. */
function watching(options: Partial<WatcherOptions> = {}): Seen {
  const events: Seen['events'] = []
  const problems: Seen['problems'] = []
  const watcher = new Watcher({
    changed: (root, status) => events.push({ root, status }),
    problem: (root, why, isGone) => problems.push({ root, why, isGone }),
    timing: { quietMs: 50, patienceMs: 400, restFactor: 1 },
    ...options,
  })
  open.push(watcher)
  const newest = ({ path }: Checkout) => events.findLast(({ root }) => root === path)?.status
  return { watcher, events, problems, newest }
}

async function openIn({ watcher }: Seen, checkout: Checkout): Promise<RepoStatus> {
  return watcher.open(await openRepository(place.git, checkout.path))
}

const names = (status: RepoStatus | undefined): string[] => status?.files.map(({ path }) => path) ?? []

test('changes of files, folders, index, branches and refs are seen', async () => {
  const checkout = place.repo('all', { 'a.txt': '1\n', 'deep/er/b.txt': '1\n' })
  const seen = watching()
  assert.equal((await openIn(seen, checkout)).isClean, true)
  const steps: [what: string, act: () => void, fact: (status: RepoStatus) => boolean][] = [
    ['a file', () => checkout.write('deep/er/b.txt', '22\n'), (s) => names(s).includes('deep/er/b.txt')],
    ['a new folder', () => checkout.write('new/fold/er/x', '1'), (s) => names(s).includes('new/fold/er/x')],
    ['a file in it', () => checkout.write('new/fold/er/y', '1'), (s) => names(s).includes('new/fold/er/y')],
    ['a folder goes', () => checkout.remove('new'), (s) => !names(s).includes('new/fold/er/y')],
    ['it comes back', () => checkout.write('new/fold/z', '1'), (s) => names(s).includes('new/fold/z')],
    ['and lives', () => checkout.write('new/fold/zz', '1'), (s) => names(s).includes('new/fold/zz')],
    ['the index', () => checkout.git('add', '-A'), (s) => s.files.every(({ status }) => status === 'staged')],
    ['a commit', () => checkout.commit(), (s) => s.isClean],
    ['a branch', () => checkout.git('checkout', '-q', '-b', 'x/y'), (s) => s.branch === 'x/y'],
    ['a remote', () => checkout.git('remote', 'add', 'origin', '/nowhere'), (s) => s.remotes.length === 1],
    [
      'a move',
      () => renameSync(join(checkout.path, 'deep'), join(checkout.path, 'moved')),
      (s) => names(s).includes('moved/er/b.txt'),
    ],
    ['and after it', () => checkout.write('moved/er/c', '1'), (s) => names(s).includes('moved/er/c')],
  ]
  for (const [what, act, fact] of steps) {
    act()
    await until(() => seen.newest(checkout) !== undefined && fact(seen.newest(checkout)!), what)
  }
  assert.deepEqual(seen.problems, [])
})

test('a commit on the upstream alone is seen', async () => {
  const origin = place.repo('upstream')
  const checkout = place.repo('downstream', {})
  checkout.git('remote', 'add', 'origin', origin.path)
  checkout.git('fetch', '-q', 'origin')
  checkout.git('checkout', '-q', '-b', 'main', '--track', 'origin/main')
  const seen = watching()
  await openIn(seen, checkout)
  origin.write('x', '1')
  origin.commit()
  checkout.git('fetch', '-q', 'origin')
  await until(() => seen.newest(checkout)?.behind === 1, 'one commit behind')
})

test('ignored folders have no watch, and start to have one when they are not ignored any more', async () => {
  const checkout = place.repo('ignoring', { '.gitignore': 'node_modules\n/out/\n', 'src/a': '1\n' })
  checkout.write('lib/node_modules/x', '1\n')
  checkout.git('add', '-f', 'lib')
  checkout.commit()
  for (let n = 0; n < 300; n++) checkout.write(`node_modules/m${n}/x`, '')
  checkout.write('out/deep/x', '')
  checkout.write(':(glob)*/-x/y', '')
  const before = inotifyWatches()
  const seen = watching()
  await openIn(seen, checkout)
  const first = inotifyWatches() - before
  assert.ok(first < 20, `${first} watches`)
  checkout.write('lib/node_modules/x', '22\n')
  await until(() => names(seen.newest(checkout)).includes('lib/node_modules/x'), 'tracked, though ignored')
  checkout.write('src/node_modules/y/z', '')
  checkout.write('src/mark', '')
  await until(() => names(seen.newest(checkout)).includes('src/mark'), 'the mark')
  assert.ok(inotifyWatches() - before < 20)
  checkout.write('.gitignore', 'node_modules\n')
  await until(() => names(seen.newest(checkout)).includes('out/deep/x'), 'what is not ignored any more')
  checkout.write('out/deep/y', '')
  await until(() => names(seen.newest(checkout)).includes('out/deep/y'), 'a change in it')
  checkout.write('.gitignore', 'node_modules\nout\nsrc\n')
  await until(() => !names(seen.newest(checkout)).includes('out/deep/y'), 'ignored again')
})

test('a storm of files makes few events, and the last one is right', async (t) => {
  const checkout = place.repo('storm')
  const seen = watching({ timing: {} })
  await openIn(seen, checkout)
  const began = performance.now()
  for (let n = 0; n < 2000; n++) {
    checkout.write(`d${n % 40}/e${n % 7}/f${n}`, 'x')
    if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => names(seen.newest(checkout)).length === 2000, 'all 2,000 files')
  t.diagnostic(`${seen.events.length} events for 2,000 files`)
  // None sooner than it was quiet; a slow machine may be quiet in the middle of it.
  const most = 2 + (performance.now() - began) / PACE.quietMs
  assert.ok(seen.events.length <= most, `${seen.events.length} events, at the most ${most}`)
  checkout.remove('d0')
  await until(() => names(seen.newest(checkout)).length === 1950, 'a folder less')
})

test('nothing is said when the status is the same, nor after closing', async () => {
  const checkout = place.repo('same', { 'a.txt': '1\n', '.gitignore': '*.log\n' })
  const other = place.repo('other')
  const seen = watching()
  const [first] = await Promise.all([openIn(seen, checkout), openIn(seen, checkout), openIn(seen, other)])
  assert.deepEqual(await openIn(seen, checkout), first)
  const listed = seen.watcher.list().map(({ root, how }) => `${how} ${root}`)
  assert.deepEqual(listed.sort(), [`watching ${other.path}`, `watching ${checkout.path}`].sort())
  checkout.write('a.txt', '1\n')
  checkout.write('x.log', '1\n')
  checkout.git('gc', '-q')
  checkout.write('a.txt', '2\n')
  await until(() => seen.events.length === 1, 'the one event')
  assert.equal(seen.watcher.close(checkout.path), true)
  assert.equal(seen.watcher.close(checkout.path), false)
  checkout.write('more', '1')
  other.write('more', '1')
  await until(() => seen.newest(other) !== undefined, 'an event of the other one')
  assert.deepEqual(
    seen.events.map(({ root }) => root),
    [checkout.path, other.path],
  )
})

test('a look that finds the same says nothing', async () => {
  const checkout = place.repo('looks', { 'a.txt': '1\n', '.gitignore': '*.log\n' })
  const seen = watching()
  const real = await openRepository(place.git, checkout.path)
  let looks = 0
  const counted = {
    ...real,
    async status() {
      const status = await real.status()
      looks++
      return status
    },
  }
  await seen.watcher.open(counted)
  for (let n = 0; n < 3; n++) {
    const before = looks
    checkout.write('a.txt', '1\n')
    checkout.write('x.log', String(n))
    await until(() => looks > before, 'a look')
  }
  assert.deepEqual(seen.events, [])
  checkout.write('a.txt', '2\n')
  await until(() => seen.events.length === 1, 'the event')
})

test('closing gives every watch back', async () => {
  const checkout = place.repo(
    'leak',
    Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`d${n}/f`, '1'])),
  )
  const before = inotifyWatches()
  const seen = watching()
  await openIn(seen, checkout)
  assert.ok(inotifyWatches() >= before + 60)
  for (let n = 0; n < 5; n++) {
    checkout.write(`new${n}/x/y`, '1')
    checkout.remove(`d${n}`)
  }
  await until(() => names(seen.newest(checkout)).length === 10, 'ten changes')
  checkout.write('late/x', '1')
  await seen.watcher.closeAll()
  assert.equal(inotifyWatches(), before)
})

test('where there are not enough watches it polls, and says so', async () => {
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`d${n}/f`, '1\n']))
  const checkout = place.repo('poll', files)
  const before = inotifyWatches()
  const seen = watching({
    maxWatches: 30,
    timing: { quietMs: 10, patienceMs: 20, restFactor: 0, pollMs: 50 },
  })
  await openIn(seen, checkout)
  assert.equal(seen.watcher.list()[0]?.how, 'polling')
  assert.deepEqual(
    seen.problems.map(({ root, isGone }) => [root, isGone]),
    [[checkout.path, false]],
  )
  assert.equal(inotifyWatches(), before)
  checkout.write('d40/f', '2\n')
  await until(() => names(seen.newest(checkout)).includes('d40/f'), 'a change by polling')
  const small = place.repo('small')
  await openIn(seen, small)
  assert.equal(seen.watcher.list()[1]?.how, 'watching')
})

test('a repository that goes away is closed', async () => {
  const checkout = place.repo('goes')
  const seen = watching()
  await openIn(seen, checkout)
  rmSync(checkout.path, { recursive: true })
  await until(() => seen.problems.some(({ isGone }) => isGone), 'that it is gone')
  assert.deepEqual(seen.watcher.list(), [])
})

test('a linked worktree is watched by itself, and a submodule for its commit', async () => {
  const inner = place.repo('inner')
  const checkout = place.repo('outer')
  checkout.git('submodule', '--quiet', 'add', inner.path, 'sub')
  checkout.commit()
  const linked = join(place.root, 'linked')
  checkout.git('worktree', 'add', '-q', linked)
  const seen = watching()
  await openIn(seen, checkout)
  const status = await seen.watcher.open(await openRepository(place.git, linked))
  assert.equal(status.branch, 'linked')
  checkout.git('-C', linked, 'checkout', '-q', '-b', 'elsewhere')
  await until(
    () => seen.events.some(({ root, status }) => root === linked && status.branch === 'elsewhere'),
    'branch',
  )
  checkout.write('sub/a.txt', 'new\n')
  checkout.git('-C', 'sub', 'commit', '-qam', 'new')
  await until(() => names(seen.newest(checkout)).includes('sub'), 'the commit of the submodule')
})

test('one watch for a whole tree, as systems with such a thing have it', async () => {
  const checkout = place.repo('recursive', { 'deep/er/a': '1' })
  const paths: string[] = []
  const budget = { left: 10 }
  const watch = new DirectoryWatch({
    budget,
    recursive: true,
    onEvent: (path) => paths.push(path),
    onLimit: assert.fail,
    ignored: async () => new Set(),
  })
  await watch.addTree(checkout.path)
  checkout.write('deep/er/b', '2')
  await until(() => paths.includes(join(checkout.path, 'deep/er/b')), 'a file far below')
  watch.close()
  assert.equal(budget.left, 10)
})

test('what is ignored is looked at once more, however often it has changed meanwhile', async () => {
  let looks = 0
  const watch = new DirectoryWatch({
    budget: { left: 10 },
    onEvent() {},
    onLimit: assert.fail,
    recursive: false,
    async ignored() {
      looks++
      return new Set()
    },
  })
  await watch.addTree(place.repo('often').path)
  const first = looks
  await Promise.all(Array.from({ length: 100 }, () => watch.rewalk()))
  assert.equal(looks, first * 2)
  await watch.rewalk()
  assert.equal(looks, first * 3)
  watch.close()
})

test('something within that only looks like a repository holds nobody up', async () => {
  const checkout = place.repo('odd')
  const fifos = Array.from({ length: 4 }, (_, n) => join(checkout.path, `in${n}`, '.git'))
  for (const fifo of fifos) {
    mkdirSync(dirname(fifo))
    execFileSync('mkfifo', [fifo])
  }
  try {
    await arrival(openIn(watching(), checkout), 'the repository')
  } finally {
    // Whoever waits for a writer is let go, so that a failure does not hang.
    for (const fifo of fifos) closeSync(openSync(fifo, constants.O_RDWR))
  }
})
