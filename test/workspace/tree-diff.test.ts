import assert from 'node:assert/strict'
import { chmodSync, readdirSync, symlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Diff, DiffRequest } from '../../src/core/checkpoint.ts'
import type { FileChange } from '../../src/core/file-change.ts'
import { Places } from '../../src/workspace/place.ts'
import { createWorkTrees } from '../../src/workspace/work-trees.ts'
import { aPlace, checkoutAt, type Checkout } from './support.ts'

const place = aPlace()
after(() => place.close())
const home = join(place.root, 'home')
const trees = createWorkTrees(place.git, new Places(place.git), { folder: join(home, 'checkpoints'), home })

function diff(checkout: Checkout, request: Partial<DiffRequest> = {}): Promise<Diff> {
  return trees.diff(checkout.path, { from: 'head', to: null, ...request })
}

const short = ({ path, oldPath, status, isBinary, additions, deletions, truncated }: FileChange) =>
  [path, oldPath, status, isBinary, additions, deletions, truncated] as const

test('all kinds of changes are told, and nothing is written into the repository', async () => {
  const long = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('')
  const repo = place.repo('kinds', {
    'a.txt': 'one\ntwo\n',
    'gone.txt': 'x\n',
    'old name.txt': long,
    'run.sh': 'x\n',
    kind: 'text\n',
  })
  repo.write('a.txt', 'one\nthree\n')
  repo.remove('gone.txt')
  repo.git('mv', 'old name.txt', 'new name.txt')
  repo.write('new name.txt', `${long}more\n`)
  repo.write('binary', 'a\0b')
  repo.write('untracked/b.txt', 'b')
  chmodSync(join(repo.path, 'run.sh'), 0o755)
  rmSync(join(repo.path, 'kind'))
  symlinkSync('a.txt', join(repo.path, 'kind'))
  const count = (): number => readdirSync(join(repo.path, '.git/objects'), { recursive: true }).length
  const before = count()
  const { files, base, truncated, reason } = await diff(repo)
  assert.equal(count(), before)
  assert.deepEqual([base, truncated, reason], [repo.git('rev-parse', 'HEAD').trim(), false, null])
  assert.deepEqual(files.map(short), [
    ['a.txt', null, 'modified', false, 1, 1, false],
    ['binary', null, 'added', true, 0, 0, false],
    ['gone.txt', null, 'deleted', false, 0, 1, false],
    ['kind', null, 'modified', false, 1, 1, false],
    ['new name.txt', 'old name.txt', 'renamed', false, 1, 0, false],
    ['run.sh', null, 'modified', false, 0, 0, false],
    ['untracked/b.txt', null, 'added', false, 1, 0, false],
  ])
  assert.deepEqual(files[0]!.hunks, [
    {
      oldStart: 1,
      oldLines: 2,
      newStart: 1,
      newLines: 2,
      header: '',
      lines: [
        { kind: ' ', text: 'one', old: 1, new: 1 },
        { kind: '-', text: 'two', old: 2, new: null },
        { kind: '+', text: 'three', old: null, new: 2 },
      ],
    },
  ])
  const one = await diff(repo, { path: 'new name.txt' })
  assert.deepEqual(one.files.map(short), [['new name.txt', 'old name.txt', 'renamed', false, 1, 0, false]])
  assert.deepEqual((await diff(repo, { path: 'run.sh' })).files.length, 1)
  assert.deepEqual((await diff(repo, { path: 'not there' })).files, [])
})

test('a long change is cut, and says so; one file can be read further', async () => {
  const repo = place.repo('long')
  repo.write('a-long.txt', 'x\n'.repeat(5000))
  repo.write('b-wide.txt', 'y'.repeat(100_000))
  repo.write('c.txt', 'z\n')
  const { files, truncated } = await diff(repo)
  assert.deepEqual(files.map(short), [
    ['a-long.txt', null, 'added', false, 5000, 0, true],
    ['b-wide.txt', null, 'added', false, 1, 0, true],
    ['c.txt', null, 'added', false, 1, 0, false],
  ])
  assert.deepEqual(
    [truncated, files[0]!.hunks[0]!.lines.length, files[1]!.hunks[0]!.lines[0]!.text.length],
    [true, 2000, 4000],
  )
  const one = await diff(repo, { path: 'a-long.txt' })
  assert.deepEqual([one.files[0]!.hunks[0]!.lines.length, one.truncated], [5000, false])
})

test('more files than can be shown are counted, not shown', async () => {
  const repo = place.repo('many')
  for (let n = 0; n < 1100; n++) repo.write(`many/${String(n).padStart(4, '0')}.txt`, 'x\n'.repeat(30))
  const { files, truncated } = await diff(repo)
  assert.deepEqual([files.length, truncated], [1000, true])
  const lines = files.flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines)).length
  assert.equal(lines, 20_000)
  assert.equal(files.at(-1)!.truncated, true)
})

test('a repository without a commit is compared with nothing', async () => {
  const repo = place.repo('unborn', {})
  repo.write('a.txt', 'one\n')
  assert.deepEqual((await diff(repo)).files.map(short), [['a.txt', null, 'added', false, 1, 0, false]])
  const { files, reason } = await diff(repo, { from: { branchOf: 'x' } })
  assert.deepEqual(files, [])
  assert.match(reason!, /no branch to compare with/)
})

test('a branch is compared with where it left the default branch, or with its upstream', async () => {
  const origin = place.repo('origin')
  const path = join(place.root, 'clone')
  origin.git('clone', '-q', origin.path, path)
  const clone = checkoutAt(path, place.env)
  const names = async (): Promise<string[]> =>
    (await diff(clone, { from: { branchOf: 'session' } })).files.map((file) => file.path)
  const start = clone.git('rev-parse', 'HEAD').trim()
  clone.write('ahead.txt', 'x\n')
  clone.commit('on main, not pushed')
  clone.write('new.txt', 'x\n')
  assert.deepEqual(await names(), ['ahead.txt', 'new.txt'])
  clone.git('checkout', '-q', '-b', 'feature')
  clone.write('on-feature.txt', 'x\n')
  clone.commit('on feature')
  assert.deepEqual(await names(), ['ahead.txt', 'new.txt', 'on-feature.txt'])
  clone.git('remote', 'remove', 'origin')
  assert.deepEqual(await names(), ['new.txt', 'on-feature.txt'])
  // A worktree of a session knows where it began.
  clone.git('update-ref', 'refs/corral/session/base', start)
  assert.deepEqual(await names(), ['ahead.txt', 'new.txt', 'on-feature.txt'])
  assert.equal((await diff(clone, { from: { branchOf: 'session' } })).base, start)
})

test('objects of a repository that lies elsewhere are found, whatever its path', async () => {
  const origin = place.repo('shared one: with all')
  const path = join(place.root, 'borrower')
  origin.git('clone', '-q', '--shared', origin.path, path)
  const borrower = checkoutAt(path, place.env)
  borrower.write('a.txt', 'changed\n')
  assert.deepEqual((await diff(borrower)).files.map(short), [['a.txt', null, 'modified', false, 1, 3, false]])
  const odd = place.repo('"an": \\odd\nname"')
  odd.write('a.txt', 'changed\n')
  assert.deepEqual((await diff(odd)).files.map(short), [['a.txt', null, 'modified', false, 1, 3, false]])
})
