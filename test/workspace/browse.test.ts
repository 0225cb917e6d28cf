import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CorralError } from '../../src/core/error.ts'
import { listDirectory, readPiece } from '../../src/workspace/browse.ts'
import { Finder } from '../../src/workspace/find.ts'
import { bestMatches } from '../../src/workspace/fuzzy.ts'
import { Places } from '../../src/workspace/place.ts'
import { aPlace } from './support.ts'

const place = aPlace()
after(() => place.close())

const outside = join(place.root, 'outside')
mkdirSync(join(outside, 'folder'), { recursive: true })
writeFileSync(join(outside, 'secret.txt'), 'secret')
writeFileSync(join(outside, 'folder/secret.txt'), 'secret')
writeFileSync(join(outside, 'folder/theirs.txt'), '')

let made = 0
function aDirectory(files: Record<string, string | Buffer> = {}): string {
  const root = join(place.root, `directory-${made++}`)
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

test('a directory is listed with folders first, and links are named but not followed', async () => {
  const root = aDirectory({
    'b.txt': 'four',
    'a.txt': '',
    'z/inside.txt': 'x',
    '.git/config': 'x',
    '.hidden': '',
  })
  symlinkSync(outside, join(root, 'link'))
  execFileSync('mkfifo', [join(root, 'fifo')])
  utimesSync(join(root, 'b.txt'), 1000, 1000)
  const { entries, truncated, path } = await listDirectory(root, '')
  assert.deepEqual(
    entries.map(({ name, kind, size }) => [name, kind, size]),
    [
      ['z', 'directory', null],
      ['.hidden', 'file', 0],
      ['a.txt', 'file', 0],
      ['b.txt', 'file', 4],
      ['fifo', 'other', null],
      ['link', 'link', null],
    ],
  )
  assert.deepEqual([truncated, path], [false, ''])
  assert.equal(entries.find(({ name }) => name === 'b.txt')?.modifiedAt, 1_000_000)
  assert.deepEqual((await listDirectory(root, './z//')).path, 'z')
})

test('a session may be in a directory that is a link itself', async () => {
  const root = aDirectory({ 'a.txt': 'x' })
  const link = join(place.root, 'link to a directory')
  symlinkSync(root, link)
  assert.equal((await listDirectory(link, '')).entries.length, 1)
  assert.equal((await readPiece(link, 'a.txt')).text, 'x')
})

const WAYS_OUT: [name: string, path: string][] = [
  ['a parent', '../outside/secret.txt'],
  ['a parent in the middle', 'folder/../../outside/secret.txt'],
  ['an absolute path', join(outside, 'secret.txt')],
  ['a link to a file', 'link.txt'],
  ['a link to a folder in the middle', 'link/secret.txt'],
  ['a link that stays inside', 'inner/a.txt'],
  ['a link to itself', 'loop/a.txt'],
  ['the files of git', '.git/config'],
  ['the files of git, shouting', '.GIT/config'],
  ['a zero byte', 'a.txt\0/../../outside/secret.txt'],
]

for (const [name, path] of WAYS_OUT) {
  test(`there is no way out of the directory: ${name}`, async () => {
    const root = aDirectory({ 'a.txt': 'a', 'folder/a.txt': 'a', '.git/config': 'x' })
    symlinkSync(join(outside, 'secret.txt'), join(root, 'link.txt'))
    symlinkSync(outside, join(root, 'link'))
    symlinkSync('folder', join(root, 'inner'))
    symlinkSync('loop', join(root, 'loop'))
    for (const look of [readPiece, listDirectory]) {
      await assert.rejects(look(root, path), (error) => {
        assert.ok(error instanceof CorralError, String(error))
        assert.ok(['invalid', 'path_not_found'].includes(error.code), error.code)
        assert.ok(!error.message.includes('secret\n'))
        return true
      })
    }
  })
}

test('what is exchanged for a link while it is read is not read', async () => {
  const root = aDirectory({ 'folder/secret.txt': 'mine' })
  const folder = join(root, 'folder')
  const [aside, link] = [join(root, 'aside'), join(root, 'other')]
  symlinkSync(join(outside, 'folder'), link)
  let isOver = false
  const seen = new Set<string | null>()
  async function exchange(): Promise<void> {
    while (!isOver) {
      renameSync(folder, aside)
      renameSync(link, folder)
      await new Promise((resolve) => setImmediate(resolve))
      renameSync(folder, link)
      renameSync(aside, folder)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const exchanging = exchange()
  for (let n = 0; n < 500; n++) {
    const piece = await readPiece(root, 'folder/secret.txt').catch(() => null)
    if (piece) seen.add(piece.text)
    const listing = await listDirectory(root, 'folder').catch(() => null)
    for (const { name } of listing?.entries ?? []) seen.add(name)
  }
  isOver = true
  await exchanging
  // Whether anything was read at all is up to chance.
  for (const known of ['mine', 'secret.txt']) seen.delete(known)
  assert.deepEqual(seen, new Set())
})

test('nobody waits for a FIFO, and a device is no file', async () => {
  const root = aDirectory()
  execFileSync('mkfifo', [join(root, 'fifo')])
  await assert.rejects(readPiece(root, 'fifo'), { code: 'invalid' })
  await assert.rejects(listDirectory(root, 'fifo'), { code: 'invalid' })
  await assert.rejects(readPiece('/dev', 'zero'), { code: 'invalid' })
  await assert.rejects(readPiece(root, ''), { code: 'invalid' })
  await assert.rejects(readPiece(root, 'none'), { code: 'path_not_found' })
  await assert.rejects(listDirectory(join(root, 'gone'), ''), { code: 'path_not_found' })
})

test('files that the system makes up are read as far as they go', async () => {
  const { text } = await readPiece('/proc', 'self/status').catch(() => ({ text: 'links' }))
  assert.equal(text, 'links')
  const { text: own, size } = await readPiece('/proc', `${process.pid}/status`)
  assert.match(own!, /^Name:/)
  assert.equal(size, 0)
})

test('a text comes in pieces that fit together, whatever they are cut at', async () => {
  const text = 'aé€😀'.repeat(50)
  const root = aDirectory({ 'a.txt': text })
  for (const limit of [4, 5, 7, 100]) {
    let all = ''
    for (let offset = 0; ;) {
      const piece = await readPiece(root, 'a.txt', { offset, limit })
      all += piece.text
      offset += Buffer.byteLength(piece.text!)
      if (!piece.truncated) break
    }
    assert.equal(all, text)
  }
  assert.equal((await readPiece(root, 'a.txt', { offset: 2, limit: 10 })).text, '€😀a')
})

test('a large file is cut, a binary one is not shown, an image is', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const root = aDirectory({
    'large.txt': 'x'.repeat(1024 * 1024 + 1),
    binary: Buffer.from([1, 0, 2]),
    'wrong.txt': Buffer.from([0xff, 0x41]),
    'image.txt': png,
    'image.svg': '<svg onload="alert(1)"/>',
  })
  const large = await readPiece(root, 'large.txt')
  assert.deepEqual([large.text?.length, large.truncated, large.size], [1024 * 1024, true, 1024 * 1024 + 1])
  assert.deepEqual((await readPiece(root, 'binary')).text, null)
  assert.deepEqual((await readPiece(root, 'wrong.txt')).text, null)
  const image = await readPiece(root, 'image.txt')
  assert.deepEqual([image.base64, image.mediaType, image.text], [png.toString('base64'), 'image/png', null])
  const svg = await readPiece(root, 'image.svg')
  assert.deepEqual([svg.base64, svg.mediaType, svg.text], [null, null, '<svg onload="alert(1)"/>'])
  truncateSync(join(root, 'image.txt'), 5 * 1024 * 1024 + 1)
  const huge = await readPiece(root, 'image.txt')
  assert.deepEqual([huge.base64, huge.mediaType, huge.truncated], [null, 'image/png', true])
})

test('of a huge directory the beginning is listed', async () => {
  const root = aDirectory()
  for (let n = 0; n < 2500; n++) writeFileSync(join(root, String(n).padStart(5, '0')), '')
  const { entries, truncated } = await listDirectory(root, '')
  assert.deepEqual([entries.length, truncated, entries.at(-1)?.name], [2000, true, '01999'])
})

test('files are found by a few letters of their paths, the best first', () => {
  const paths = [
    'src/core/session.ts',
    'src/core/sessions.ts',
    'docs/sessions.md',
    'src/cli/session-events.ts',
    'src/store/schema.ts',
  ]
  const best = (query: string): string | undefined => bestMatches(paths, query, 10).files[0]?.path
  assert.equal(best('session.ts'), 'src/core/session.ts')
  assert.equal(best('sesev'), 'src/cli/session-events.ts')
  assert.equal(best('SCHEMA'), 'src/store/schema.ts')
  assert.equal(best('docs/se'), 'docs/sessions.md')
  assert.equal(best('xyz'), undefined)
  assert.deepEqual(bestMatches(paths, '', 2), {
    files: bestMatches(paths, '', 10).files.slice(0, 2),
    truncated: true,
  })
})

test('git says which files there are to find; without it a short walk does', async () => {
  const finder = new Finder(new Places(place.git))
  const repo = place.repo('found', { 'a.txt': 'x', 'sub/b.txt': 'x', '.gitignore': 'ignored.txt\n' })
  repo.write('sub/new.txt', 'x')
  repo.write('ignored.txt', 'x')
  const names = async (directory: string): Promise<string[]> =>
    (await finder.find(directory, 'txt', 20)).files.map(({ path }) => path).sort()
  assert.deepEqual(await names(repo.path), ['a.txt', 'sub/b.txt', 'sub/new.txt'])
  assert.deepEqual(await names(join(repo.path, 'sub')), ['b.txt', 'new.txt'])
  const plain = aDirectory({ 'a.txt': 'x', 'deep/er/b.txt': 'x', 'node_modules/m/c.txt': 'x' })
  symlinkSync(outside, join(plain, 'link'))
  assert.deepEqual(await names(plain), ['a.txt', 'deep/er/b.txt'])
  const gone = aDirectory()
  rmSync(gone, { recursive: true })
  await assert.rejects(finder.find(gone, 'x', 1), { code: 'path_not_found' })
})
