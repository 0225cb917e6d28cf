import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, NativeError, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { aPlace, type Checkout, type Place } from '../../workspace/support.ts'
import { turn, readTo } from './support.ts'

let daemon: TestDaemon
let client: NativeClient
let place: Place
before(async () => {
  place = aPlace()
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', CORRAL_CLAWDE_ENABLED: 'false' }
  daemon = await startDaemon({ env })
  client = await connect(daemon.socket)
})
after(async () => {
  client.close()
  await daemon.stop()
  place.close()
})

const refused = (code: string) => (error: unknown) => error instanceof NativeError && error.code === code

function sessionIn(repo: Checkout, more: { key?: string; carry?: boolean; about?: string } = {}) {
  return client.call('session.create', {
    agent: 'demo',
    cwd: repo.path,
    mode: 'auto',
    worktree: true,
    ...more,
  })
}

async function worktrees(): Promise<string[]> {
  return (await client.call('worktree.list')).worktrees.map(({ sessionId }) => sessionId)
}

test('a session in its own worktree: its diff, merged into the branch, and gone with the session', async () => {
  const repo = place.repo('merged')
  const { id: sessionId, cwd } = await sessionIn(repo)
  assert.equal(cwd, join(daemon.corralHome, 'worktrees', sessionId))
  const [listed] = (await client.call('worktree.list')).worktrees
  assert.deepEqual([listed?.path, listed?.branch], [cwd, `corral/${sessionId}`])
  assert.deepEqual(await client.call('worktree.diff', { sessionId }), { text: '', truncated: false })
  await turn(client, sessionId, '[[say working]]')
  writeFileSync(join(cwd, 'made.txt'), 'by the agent\n')
  assert.match((await client.call('worktree.diff', { sessionId })).text, /\+by the agent/)
  await assert.rejects(client.call('worktree.discard', { sessionId }), refused('unsaved_work'))
  const merged = await client.call('worktree.merge', { sessionId, message: 'The work' })
  assert.deepEqual([merged.outcome, merged.commit], ['merged', repo.git('rev-parse', 'HEAD').trim()])
  assert.equal(repo.git('log', '-1', '--format=%s').trim(), 'The work')
  assert.equal(readFileSync(join(repo.path, 'made.txt'), 'utf8').trim(), 'by the agent')
  assert.equal((await client.call('worktree.merge', { sessionId })).outcome, 'nothing')
  const removed = await client.call('session.destroy', { sessionId })
  assert.deepEqual(removed, { sessionId, worktree: { fate: 'removed', path: cwd } })
  assert.ok(!existsSync(cwd))
})

test('work that is nowhere else outlives its session, and can still be merged or discarded', async () => {
  const repo = place.repo('kept')
  const { id: sessionId, cwd } = await sessionIn(repo)
  writeFileSync(join(cwd, 'a.txt'), 'changed\n')
  assert.equal((await client.call('session.destroy', { sessionId })).worktree?.fate, 'kept')
  assert.deepEqual(await worktrees(), [sessionId])
  assert.match((await client.call('worktree.diff', { sessionId })).text, /\+changed/)
  await client.call('worktree.discard', { sessionId, force: true })
  assert.deepEqual(await worktrees(), [])
  await assert.rejects(client.call('worktree.diff', { sessionId }), refused('repo_not_found'))
})

test('its work is committed to a branch that is named after it', async () => {
  const repo = place.repo('committed')
  const { id: sessionId, cwd } = await sessionIn(repo, { about: 'Make it *faster*!' })
  const [listed] = (await client.call('worktree.list')).worktrees
  assert.equal(listed?.branch, 'corral/make-it-faster')
  assert.equal((await client.call('worktree.commit', { sessionId })).ahead, 0)
  await turn(client, sessionId, '[[say working]] on it')
  writeFileSync(join(cwd, 'made.txt'), 'by the agent\n')
  const { commit, ahead } = await client.call('worktree.commit', { sessionId })
  assert.deepEqual([commit, ahead], [repo.git('rev-parse', 'corral/make-it-faster').trim(), 1])
  assert.equal(repo.git('log', '-1', '--format=%s', commit).trim(), '[[say working]] on it')
  await client.call('worktree.discard', { sessionId, force: true })
  const branch = { agent: 'demo', cwd: repo.path, branch: 'x' }
  await assert.rejects(client.call('session.create', branch), refused('invalid'))
})

test('what cannot be merged touches nothing and says why', async () => {
  const repo = place.repo('conflict')
  const { id: sessionId, cwd } = await sessionIn(repo)
  writeFileSync(join(cwd, 'a.txt'), 'theirs\n')
  repo.write('a.txt', 'uncommitted\n')
  const blocked = await client.call('worktree.merge', { sessionId })
  assert.deepEqual(blocked, { outcome: 'blocked', why: 'uncommitted', files: ['a.txt'] })
  repo.commit('ours')
  const conflict = await client.call('worktree.merge', { sessionId })
  assert.deepEqual(conflict, { outcome: 'conflict', files: ['a.txt'] })
  assert.equal(readFileSync(join(repo.path, 'a.txt'), 'utf8'), 'uncommitted\n')
  await client.call('worktree.discard', { sessionId, force: true })
})

test('uncommitted work comes along if it is asked for; while a turn runs nobody merges or discards', async () => {
  const repo = place.repo('carried')
  repo.write('a.txt', 'not yet committed\n')
  const { id: sessionId, cwd } = await sessionIn(repo, { carry: true })
  assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'not yet committed\n')
  const { seq, log } = await client.call('session.send', { sessionId, content: '[[drip 1000 50]]' })
  await readTo(client.events({ after: seq - 1, log, sessionId }), 'turn.started')
  for (const name of ['worktree.merge', 'worktree.discard'] as const)
    await assert.rejects(client.call(name, { sessionId }), refused('conversation_busy'))
  await client.call('session.interrupt', { sessionId })
  await readTo(client.events({ after: seq - 1, log, sessionId }), 'turn.interrupted')
  await client.call('worktree.discard', { sessionId, force: true })
})

test('the same key is one session with one worktree; without a repository there is neither', async () => {
  const repo = place.repo('twice')
  const [one, two] = [await sessionIn(repo, { key: 'k' }), await sessionIn(repo, { key: 'k' })]
  assert.equal(one.id, two.id)
  assert.deepEqual(await worktrees(), [one.id])
  const { sessions } = await client.call('session.list')
  const nowhere = { agent: 'demo', cwd: daemon.project, worktree: true }
  await assert.rejects(client.call('session.create', nowhere), refused('repo_not_found'))
  await assert.rejects(
    client.call('session.create', { ...nowhere, cwd: repo.path, agent: 'nobody' }),
    refused('agent_unknown'),
  )
  assert.equal((await client.call('session.list')).sessions.length, sessions.length)
  assert.deepEqual(await worktrees(), [one.id])
  const plain = await client.call('session.create', { agent: 'demo', cwd: repo.path })
  await assert.rejects(client.call('worktree.diff', { sessionId: plain.id }), refused('repo_not_found'))
  await assert.rejects(client.call('worktree.diff', { sessionId: '../x' }), refused('repo_not_found'))
  assert.equal((await client.call('session.destroy', { sessionId: plain.id })).worktree, null)
})

test('what is used: the daemon, and each session with a process', async () => {
  const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
  await turn(client, sessionId, '[[say hi]]')
  const now = await client.call('system.resources')
  const own = now.sessions.find((session) => session.sessionId === sessionId)
  assert.deepEqual([own?.agent, own?.tier], ['demo', 'warm'])
  assert.ok(own!.bytes > 1024 ** 2 && now.agentsBytes >= own!.bytes && now.daemonBytes > 10 * 1024 ** 2)
  assert.ok(now.totalBytes > now.usedBytes)
  assert.deepEqual(await client.call('system.history', { limit: 5 }), { samples: [] })
  await assert.rejects(client.call('system.history', { limit: 0 }), refused('invalid'))
})

test('where nobody listens for ClawDE’s devices a PIN says so, and lets a browser in', async () => {
  const { pin, ...rest } = await client.call('device.pin', { svg: true })
  assert.match(pin, /^\d{6}$/)
  assert.deepEqual([rest.url, rest.reachable, rest.qr, rest.svg], [null, false, null, undefined])
  assert.equal(rest.page, `${daemon.listeners['corral']}/signin#pin=${pin}`)
  assert.match(rest.pageSvg ?? '', /^<svg /)
})
