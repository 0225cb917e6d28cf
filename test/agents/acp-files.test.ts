import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { insidePath, readTextFile, Refused, writeTextFile } from '../../src/agents/acp/files.ts'
import type { Session } from '../../src/core/session.ts'
import { aSession } from '../support/session.ts'

let root: string
let session: Session
const at = (...names: string[]): string => join(root, ...names)

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-files-')))
  for (const name of ['project/src', 'project-too', 'extra', 'secret'])
    mkdirSync(at(name), { recursive: true })
  writeFileSync(at('secret/key'), 'key')
  writeFileSync(at('project/src/a.txt'), 'one\ntwo\nthree\n')
  symlinkSync(at('secret'), at('project/link'))
  symlinkSync(at('secret/key'), at('project/key'))
  symlinkSync(at('secret/new'), at('project/dangling'))
  symlinkSync(at('project/src'), at('project/inner'))
  execFileSync('mkfifo', [at('project/pipe')])
  session = aSession({ cwd: at('project'), settings: { additionalDirectories: [at('extra')] } })
})
after(() => rmSync(root, { recursive: true, force: true }))

const OUTSIDE: [string, () => unknown][] = [
  ['an absolute path elsewhere', () => at('secret/key')],
  ['the root', () => '/'],
  ['dots that lead out', () => `${at('project')}/../secret/key`],
  ['dots below something that does not exist', () => `${at('project')}/nowhere/../../secret/key`],
  ['a directory whose name begins like ours', () => at('project-too/x')],
  ['a link to a directory outside', () => at('project/link/key')],
  ['something new below that link', () => at('project/link/new')],
  ['a link to a file outside', () => at('project/key')],
  ['a link that leads nowhere yet', () => at('project/dangling')],
  ['a relative path', () => 'src/a.txt'],
  ['a path with a zero in it', () => `${at('project/src/a.txt')}\0.png`],
  ['no path at all', () => undefined],
]

for (const [what, path] of OUTSIDE) {
  test(`refuses ${what}`, async () => {
    await assert.rejects(insidePath(session, path()), Refused)
    await assert.rejects(readTextFile(session, { path: path() }), Refused)
    await assert.rejects(writeTextFile(session, { path: path(), content: 'changed' }), Refused)
    assert.equal(readFileSync(at('secret/key'), 'utf8'), 'key')
  })
}

test('takes what is inside, also through links and in the additional directories', async () => {
  assert.equal(await insidePath(session, at('project/inner/a.txt')), at('project/src/a.txt'))
  assert.equal(await insidePath(session, at('extra/new/file')), at('extra/new/file'))
  assert.equal(await insidePath(session, at('project')), at('project'))
  assert.equal(await insidePath(session, `${at('project')}/src/../new`), at('project/new'))
})

test('reads a file, or some lines of it', async () => {
  const path = at('project/inner/a.txt')
  assert.deepEqual(await readTextFile(session, { path }), { content: 'one\ntwo\nthree\n' })
  assert.deepEqual(await readTextFile(session, { path, line: 2 }), { content: 'two\nthree\n' })
  assert.deepEqual(await readTextFile(session, { path, limit: 2 }), { content: 'one\ntwo' })
  assert.deepEqual(await readTextFile(session, { path, limit: -1 }), { content: 'one\ntwo\nthree\n' })
})

test('a file that is not there is said to be missing, a directory or a pipe is no file', async () => {
  await assert.rejects(readTextFile(session, { path: at('project/missing') }), /ENOENT/)
  await assert.rejects(readTextFile(session, { path: at('project/src') }), /not a file/)
  await assert.rejects(readTextFile(session, { path: at('project/pipe') }), /not a file/)
  await assert.rejects(writeTextFile(session, { path: at('project/pipe'), content: 'x' }))
})

test('writes a file with the directories above it, and replaces all that was in it', async () => {
  const path = at('project/a/b/c.txt')
  await writeTextFile(session, { path, content: 'a long text' })
  await writeTextFile(session, { path, content: 'short' })
  assert.equal(readFileSync(path, 'utf8'), 'short')
  await writeTextFile(session, { path: at('project/inner/a.txt'), content: 'through a link' })
  assert.equal(readFileSync(at('project/src/a.txt'), 'utf8'), 'through a link')
  await assert.rejects(writeTextFile(session, { path, content: 5 }), Refused)
})
