import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { demoSession, readTo, turn } from './support.ts'

let daemon: TestDaemon
let client: NativeClient
/** They take their time, all at once. */
let looks: ReturnType<typeof firstLook>[]

before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket)
  looks = Array.from({ length: 6 }, firstLook)
})

after(async () => {
  client.close()
  await daemon.stop()
})

/** A first look, up to its question. */
async function firstLook() {
  const session = await client.call('demo.session')
  const approvals = await until(
    async () => {
      const found = await client.call('approval.list', { sessionId: session.id })
      return found.approvals.length > 0 && found.approvals
    },
    () => 'the demo agent asks',
  )
  return { session, approval: approvals[0]! }
}

function lastText(events: Awaited<ReturnType<typeof readTo>>): string {
  const end = events.at(-1)
  return end?.type === 'turn.completed' ? (end.text ?? '') : ''
}

test('the first look writes files for real, asks once, and runs what was allowed', async () => {
  const { session, approval } = await looks.pop()!
  assert.ok(session.cwd.startsWith(join(daemon.corralHome, 'worktrees')))
  assert.equal(session.mode, 'code')
  assert.deepEqual(
    readdirSync(session.cwd).sort(),
    ['.git', 'README.md', 'greet.mjs', 'greet.test.mjs'],
    'what it has written is there, in a repository',
  )
  assert.match(readFileSync(join(session.cwd, 'greet.mjs'), 'utf8'), /export function greet/)
  assert.deepEqual([approval.about.class, approval.about.subjects], ['shell', ['node --test']])
  const events = client.events({ after: 0, sessionId: session.id })
  await client.call('approval.decide', { approvalId: approval.id, behavior: 'allow' })
  assert.match(lastText(await readTo(events, 'turn.completed')), /^Done: 2 tests pass/)
})

test('what it has written can be merged, into a repository that was made for it', async () => {
  const { session, approval } = await looks.pop()!
  const events = client.events({ after: 0, sessionId: session.id })
  await client.call('approval.decide', { approvalId: approval.id, behavior: 'deny' })
  await readTo(events, 'turn.completed')
  const { worktrees } = await client.call('worktree.list')
  const from = worktrees.find(({ sessionId }) => sessionId === session.id)?.from ?? ''
  assert.ok(from.startsWith(join(realpathSync(daemon.corralHome), 'tours')), from)
  assert.deepEqual(readdirSync(from).sort(), ['.git', 'README.md'])
  const unmerged = { sessionId: session.id, scope: 'branch', brief: true } as const
  const { files } = await client.call('changes.read', unmerged)
  assert.deepEqual(
    files.map(({ path, additions, hunks }) => [path, additions, hunks]),
    [
      ['greet.mjs', 6, []],
      ['greet.test.mjs', 6, []],
    ],
  )
  assert.equal((await client.call('worktree.merge', { sessionId: session.id })).outcome, 'merged')
  assert.deepEqual(readdirSync(from).sort(), ['.git', 'README.md', 'greet.mjs', 'greet.test.mjs'])
  assert.deepEqual((await client.call('changes.read', unmerged)).files, [])
})

test('without git the first look is in a plain directory', async () => {
  const plain = await startDaemon({ env: { PATH: '/nowhere' } })
  try {
    const other = await connect(plain.socket)
    const session = await other.call('demo.session')
    assert.ok(session.cwd.startsWith(join(plain.corralHome, 'tours')), session.cwd)
    other.close()
  } finally {
    await plain.stop()
  }
})

test('what is refused does not run, and the agent says so', async () => {
  const { session, approval } = await looks.pop()!
  const events = client.events({ after: 0, sessionId: session.id })
  await client.call('approval.decide', { approvalId: approval.id, behavior: 'deny', comment: 'not today' })
  assert.match(lastText(await readTo(events, 'turn.completed')), /^You said no/)
})

test('the command that runs is the one that was allowed', async () => {
  const { session, approval } = await looks.pop()!
  const events = client.events({ after: 0, sessionId: session.id })
  const input = { command: 'echo edited > proof.txt' }
  await client.call('approval.decide', { approvalId: approval.id, behavior: 'allow', input })
  await readTo(events, 'turn.completed')
  assert.equal(readFileSync(join(session.cwd, 'proof.txt'), 'utf8'), 'edited\n')
})

test('in a first look, other messages are answered with what to do instead', async () => {
  const { session, approval } = await looks.pop()!
  const looked = client.events({ after: 0, sessionId: session.id })
  await client.call('approval.decide', { approvalId: approval.id, behavior: 'deny' })
  await readTo(looked, 'turn.completed')
  const events = await turn(client, session.id, 'and now something else')
  assert.match(lastText(events), /no model behind me/)
})

test('in any other directory the same words do nothing', async () => {
  const { TOUR_MESSAGE } = await import('../../../src/core/tour.ts')
  const session = await demoSession(client, daemon)
  assert.equal(lastText(await turn(client, session.id, TOUR_MESSAGE)), `echo: ${TOUR_MESSAGE}`)
  assert.ok(!existsSync(join(daemon.project, 'greet.mjs')))
})

test('a place says whether one can work there, and what is in it', async () => {
  mkdirSync(join(daemon.project, 'src/deep'), { recursive: true })
  mkdirSync(join(daemon.project, '.hidden'), { recursive: true })
  const place = await client.call('directory.look', { path: daemon.project })
  assert.deepEqual(place, {
    path: daemon.project,
    isDirectory: true,
    inRepository: false,
    directories: ['src'],
    truncated: false,
  })
  const { session } = await looks.pop()!
  assert.equal((await client.call('directory.look', { path: session.cwd })).inRepository, true)
  const home = await client.call('directory.look', { path: '~' })
  assert.equal(realpathSync(home.path), realpathSync(daemon.home))
  assert.equal((await client.call('directory.look', { path: 'project' })).path, daemon.project)
  assert.equal((await client.call('directory.look', { path: '/nowhere/at/all' })).isDirectory, false)
})
