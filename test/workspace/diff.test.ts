import assert from 'node:assert/strict'
import { readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { after, test } from 'node:test'
import { openRepository, type Repository } from '../../src/workspace/repository.ts'
import { parseUnifiedDiff } from '../../src/workspace/unified.ts'
import { aPlace } from './support.ts'

const place = aPlace()
after(() => place.close())

async function changes(repo: Repository, request: Parameters<Repository['diff']>[0]): Promise<string[]> {
  const { text } = await repo.diff(request)
  return parseUnifiedDiff(text).map(({ change, path, oldPath, isBinary }) =>
    [change, path, ...(change === 'renamed' ? [oldPath] : []), ...(isBinary ? ['binary'] : [])].join(' '),
  )
}

test('from HEAD to the working tree, to the index, and with new files', async () => {
  const checkout = place.repo('diff', { one: '1\n2\n3\n', two: '1\n', 'bi\nn': 'x', gone: 'g\n' })
  const repo = await openRepository(place.git, checkout.path)
  checkout.write('one', '1\n2\n4\n')
  checkout.git('add', 'one')
  checkout.write('two', '2')
  checkout.write('bi\nn', 'a\0b')
  checkout.remove('gone')
  checkout.write('-new', 'n\n')
  checkout.git('init', '-q', 'nested')
  checkout.write('nested/x', '1')
  const index = statSync(`${checkout.path}/.git/index`).mtimeMs
  const objects = (): string[] =>
    readdirSync(`${checkout.path}/.git/objects`, { recursive: true, encoding: 'utf8' })
  const before = new Set(objects())
  assert.deepEqual(await changes(repo, { staged: true }), ['modified one'])
  const tracked = ['modified bi\nn binary', 'deleted gone', 'modified one', 'modified two']
  assert.deepEqual(await changes(repo, {}), tracked)
  assert.deepEqual(await changes(repo, { untracked: true }), ['added -new', ...tracked])
  assert.equal(statSync(`${checkout.path}/.git/index`).mtimeMs, index)
  const emptyBlob = checkout.git('hash-object', '/dev/null').slice(0, 2)
  assert.deepEqual(
    objects().filter((name) => !before.has(name) && !name.startsWith(emptyBlob)),
    [],
  )
  const [two] = parseUnifiedDiff((await repo.fileDiff('two')).text)
  assert.deepEqual(two?.hunks[0]?.lines, [
    { type: 'removed', content: '1', oldLineNo: 1, newLineNo: null },
    { type: 'added', content: '2', oldLineNo: null, newLineNo: 1, noNewline: true },
  ])
})

test('the diff of one file: new, renamed, unchanged, with a name like an option or a pattern', async () => {
  const checkout = place.repo('one-file', { '--cached': '1\n', '*': 's\n', same: '', old: 'x\n'.repeat(9) })
  const repo = await openRepository(place.git, checkout.path)
  checkout.write('--cached', '2\n')
  checkout.write('*', 't\n')
  checkout.write('fresh', 'f\n')
  checkout.git('mv', 'old', 'new')
  const kinds = async (file: string): Promise<string[]> =>
    parseUnifiedDiff((await repo.fileDiff(file)).text).map(({ change, path }) => `${change} ${path}`)
  assert.deepEqual(await kinds('--cached'), ['modified --cached'])
  assert.deepEqual(await kinds('*'), ['modified *'])
  assert.deepEqual(await kinds('fresh'), ['added fresh'])
  assert.deepEqual(await kinds('new'), ['renamed new'])
  assert.deepEqual(await kinds('same'), [])
  for (const bad of ['../x', '/etc/passwd', '', 'a\0b', '.git/config', 'x/../../y'])
    await assert.rejects(repo.fileDiff(bad), { code: 'invalid' }, bad)
})

test('before the first commit', async () => {
  const checkout = place.repo('unborn', {})
  const repo = await openRepository(place.git, checkout.path)
  assert.deepEqual(await changes(repo, { untracked: true }), [])
  checkout.write('a', '1\n')
  assert.deepEqual(await changes(repo, { untracked: true }), ['added a'])
  checkout.git('add', 'a')
  assert.deepEqual(await changes(repo, {}), ['added a'])
  assert.deepEqual(await changes(repo, { staged: true }), ['added a'])
})

test('the settings of a user do not change the text', async () => {
  const checkout = place.repo('settings')
  const repo = await openRepository(place.git, checkout.path)
  checkout.write('a.txt', 'one\nzwei\nthree\n')
  checkout.write('zz', 'new\n')
  const before = await repo.diff({ untracked: true })
  const odd = ['diff.noprefix true', 'diff.mnemonicPrefix true', 'color.ui always', 'diff.context 0']
  odd.push('diff.relative true', 'diff.suppressBlankEmpty true', 'core.quotePath true', 'diff.renames copies')
  odd.push('status.showUntrackedFiles no', 'status.relativePaths false', 'diff.wordRegex .')
  for (const setting of odd) checkout.git('config', ...setting.split(' '))
  assert.deepEqual(await repo.diff({ untracked: true }), before)
  assert.equal((await repo.status()).files.length, 2)
})

test('a long diff is cut at the end of a line', async () => {
  const checkout = place.repo('long')
  const repo = await openRepository(place.git, checkout.path)
  checkout.write('a.txt', 'x'.repeat(80).concat('\n').repeat(50_000))
  const { text, truncated } = await repo.diff({ maxBytes: 100_000 })
  assert.equal(truncated, true)
  assert.ok(text.length > 90_000 && text.length <= 100_000 && text.endsWith('x\n'))
})

test('the list of files', async () => {
  const checkout = place.repo('list', { a: '1', 'b/c': '2', gone: '3', '.gitignore': 'out/\n*.log\n' })
  checkout.remove('gone')
  checkout.write('new é\n', '')
  checkout.write('out/x', '')
  checkout.write('b/x.log', '')
  checkout.git('init', '-q', 'nested')
  checkout.write('nested/n', '')
  const repo = await openRepository(place.git, checkout.path)
  assert.deepEqual(await repo.files(), { files: ['.gitignore', 'a', 'b/c', 'new é\n'], truncated: false })
})

test('reading files: text of the project and nothing else', async () => {
  const checkout = place.repo('read', { 'a/b.txt': '\uFEFFtext é\n', big: 'x'.repeat(1024 * 1024 + 1) })
  const repo = await openRepository(place.git, checkout.path)
  writeFileSync(`${place.root}/secret`, 'secret')
  writeFileSync(`${checkout.path}/binary`, Buffer.from([0xff, 0xfe, 0]))
  symlinkSync(`${place.root}/secret`, `${checkout.path}/out`)
  symlinkSync('..', `${checkout.path}/a/up`)
  symlinkSync('../..', `${checkout.path}/a/away`)
  symlinkSync('.git', `${checkout.path}/hidden`)
  execFileSync('mkfifo', [`${checkout.path}/fifo`])
  const read = { path: 'a/b.txt', content: '\uFEFFtext é\n', sizeBytes: 11 }
  assert.deepEqual(await repo.readFile('a/b.txt'), read)
  assert.deepEqual((await repo.readFile('a/up/a//b.txt')).content, read.content)
  const refused = ['out', 'a/away/secret', '../secret', `${place.root}/secret`, 'a', 'big', 'binary', 'fifo']
  refused.push('hidden/config', '.git/config', 'a/../.GIT/config', '', '.', 'a\0')
  for (const path of refused) await assert.rejects(repo.readFile(path), { code: 'invalid' }, path)
  await assert.rejects(repo.readFile('a/none'), { code: 'path_not_found' })
  assert.equal(
    (await repo.readFile('big').catch((error: Error) => error.message)).toString().includes('larger'),
    true,
  )
})

test('two repositories at once do not mix', async () => {
  const checkouts = ['left', 'right'].map((name) => place.repo(name, { [name]: '1\n' }))
  const repos = await Promise.all(checkouts.map(({ path }) => openRepository(place.git, path)))
  checkouts.forEach((checkout, n) => checkout.write(`new-${n}`, String(n)))
  const rounds = Array.from({ length: 20 }, (_, n) => repos[n % 2]!.status())
  const seen = await Promise.all(rounds)
  seen.forEach(({ root, files }, n) => {
    assert.equal(root, checkouts[n % 2]!.path)
    assert.deepEqual(
      files.map(({ path }) => path),
      [`new-${n % 2}`],
    )
  })
})
