import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Event } from '../../../src/core/event.ts'
import type { Snapshot } from '../../../src/dialects/humanlayer/shapes.ts'
import { createFileReads, snapshotOf } from '../../../src/dialects/humanlayer/snapshots.ts'
import { arrival } from '../../support/wait.ts'
import { type Json, rigFor } from './support.ts'

const AT = Date.parse('2026-01-02T03:04:05Z')
const REMINDER = '\n\n<system-reminder>\nBe careful.\n</system-reminder>\n'

interface Read {
  tool?: string
  input?: unknown
  output?: string
  isError?: boolean
  cut?: number
}

function snapshots(cwd: string, ...reads: Read[]): Promise<Snapshot[]> {
  const files = createFileReads()
  reads.forEach(({ tool = 'Read', input = { file_path: 'a' }, output = '', isError = false, cut = 0 }, n) => {
    const callId = `c${n}`
    files.add({
      type: 'tool.started',
      callId,
      tool,
      input,
      parent: null,
      seq: 1,
      at: AT,
      sessionId: 's',
    } as Event)
    files.add({
      type: 'tool.completed',
      callId,
      output,
      isError,
      cut,
      seq: 2,
      at: AT,
      sessionId: 's',
    } as Event)
  })
  return Promise.all(files.all.map((read) => snapshotOf(read, cwd)))
}

/** A directory with a file `a` that was last written before it was read. */
function directory(t: TestContext, content: string): string {
  const path = mkdtempSync(join(tmpdir(), 'corral-snapshots-'))
  t.after(() => rmSync(path, { recursive: true }))
  writeFileSync(join(path, 'a'), content)
  utimesSync(join(path, 'a'), AT / 1000 - 1, AT / 1000 - 1)
  return path
}

test('a whole read is what the agent saw, without line numbers and reminders', async (t) => {
  const cwd = directory(t, 'newer')
  const [arrows, tabs, plain, empty] = await snapshots(
    cwd,
    { output: `     1→one\n     2→\n    10→  1→two${REMINDER}` },
    { output: '1\tone\n2\t<system-reminder> is no reminder' },
    { output: '1→one\nnot a number' },
    { output: '<system-reminder>The file is empty.</system-reminder>' },
  )
  assert.deepEqual(arrows, {
    tool_id: 'c0',
    file_path: 'a',
    content: 'one\n\n  1→two',
    created_at: new Date(AT).toISOString(),
  })
  assert.equal(tabs!.content, 'one\n<system-reminder> is no reminder')
  assert.equal(plain!.content, '1→one\nnot a number')
  assert.equal(empty!.content, '')
})

test('of a partial read the whole file is taken, if it is still the same and not too large', async (t) => {
  const cwd = directory(t, 'all\nof\nit')
  const many = Array.from({ length: 2000 }, (_, n) => `${n + 1}→x`).join('\n')
  const [offset, limit, cut, long, full, none] = await snapshots(
    cwd,
    { input: { file_path: 'a', offset: 2 }, output: '2→of' },
    { input: { file_path: 'a', limit: 1 }, output: '1→all' },
    { output: '1→all', cut: 5 },
    { output: many },
    { input: { file_path: 'a', offset: null }, output: '1→all' },
    { input: { file_path: 'missing', offset: 2 }, output: '2→of' },
  )
  for (const whole of [offset, limit, cut, long]) assert.equal(whole!.content, 'all\nof\nit')
  assert.equal(full!.content, 'all')
  assert.equal(none!.content, 'of')

  const part = { input: { file_path: 'a', offset: 2 }, output: '2→of' }
  utimesSync(join(cwd, 'a'), AT / 1000 + 1, AT / 1000 + 1)
  assert.equal((await snapshots(cwd, part))[0]!.content, 'of')
  truncateSync(join(cwd, 'a'), 10 * 1024 ** 2 + 1)
  utimesSync(join(cwd, 'a'), AT / 1000 - 1, AT / 1000 - 1)
  assert.equal((await snapshots(cwd, part))[0]!.content, 'of')
  // A pipe is not read, and would not end before its writer does.
  const pipe = join(cwd, 'pipe')
  execFileSync('mkfifo', [pipe])
  utimesSync(pipe, AT / 1000 - 1, AT / 1000 - 1)
  const writer = openSync(pipe, constants.O_RDWR)
  const looking = snapshots(cwd, { input: { file_path: 'pipe', offset: 1 }, output: '1→x' })
  const [snapshot] = await arrival(looking, 'what was read').finally(() => closeSync(writer))
  assert.equal(snapshot!.content, 'x')
})

test('other tools, failures and nonsense leave nothing', async (t) => {
  const cwd = directory(t, '')
  const found = await snapshots(
    cwd,
    { tool: 'Write' },
    { isError: true },
    { input: { path: 'a' } },
    { input: null },
    { input: { file_path: 7 } },
  )
  assert.deepEqual(found, [])
})

test('a session answers its own, the newest first', async (t) => {
  const rig = await rigFor(t)
  const path = join(rig.engine.cwd, 'notes.txt')
  writeFileSync(path, 'all of it')
  const read = (input: Json): string =>
    `[[call Read ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`
  const id = await rig.run(read({ file_path: 'other.txt' }), { dangerously_skip_permissions: true })
  await rig.engine.turn(id, read({ file_path: path, offset: 1 }))
  const { snapshots } = await rig.call<{ snapshots: Json[] }>('getSessionSnapshots', { session_id: id })
  assert.deepEqual(
    snapshots.map(({ file_path, content }) => [file_path, content]),
    [
      [path, 'all of it'],
      ['other.txt', '(pretend) called Read'],
    ],
  )
  const idle = await rig.run('hello')
  assert.deepEqual(await rig.call('getSessionSnapshots', { session_id: idle }), { snapshots: [] })
})
