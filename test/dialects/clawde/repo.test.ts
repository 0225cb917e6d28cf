import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { aPlace, type Checkout, type Place } from '../../workspace/support.ts'
import { rigFor, type Client, type Json, type Rig } from './support.ts'

interface RigWithRepo {
  rig: Rig
  client: Client
  repo: Checkout
  place: Place
}

async function rigWithRepo(t: TestContext): Promise<RigWithRepo> {
  const place = aPlace()
  t.after(() => place.close())
  const rig = await rigFor(t)
  const repo = place.repo('project', { 'a.txt': 'one\n', 'b.txt': 'two\n' })
  return { rig, client: await rig.client(), repo, place }
}

const statusOf = (repo: Json): string[] =>
  (repo['files'] as Json[]).map(({ path, status }) => `${String(status)} ${String(path)}`).sort()

test('open, status, list and close, in both forms of the parameters', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  const opened = await client.call('repo.open', { path: repo.path })
  assert.equal(opened['path'], repo.path)
  assert.equal(opened['repoPath'], repo.path)
  assert.equal(opened['repo_path'], repo.path)
  assert.equal(opened['branch'], 'main')
  assert.deepEqual(
    [opened['isClean'], opened['ahead'], opened['behind'], opened['remotes']],
    [true, 0, 0, []],
  )
  assert.equal((await client.call('daemon.status'))['watchedRepos'], 1)
  repo.write('a.txt', 'changed\n')
  repo.write('new.txt', 'new\n')
  repo.git('rm', '-q', 'b.txt')
  for (const params of [{ path: repo.path }, { repoPath: repo.path }, { repo_path: repo.path }]) {
    assert.deepEqual(statusOf(await client.call('repo.status', params)), [
      'modified a.txt',
      'staged b.txt',
      'untracked new.txt',
    ])
  }
  assert.equal((await client.call<Json[]>('repo.list')).length, 1)
  assert.deepEqual(await client.call('repo.close', { repoPath: repo.path }), { closed: true })
  const again = await client.refusal('repo.close', { path: repo.path })
  assert.deepEqual([again.code, again.data['reason']], [-32005, 'not_open'])
})

test('the status has what is staged, what is not, and what is new to git', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  const lists = async (): Promise<unknown[]> => {
    const { staged, unstaged, untracked } = await client.call('repo.status', { path: repo.path })
    return [staged, unstaged, untracked]
  }
  assert.deepEqual(await lists(), [[], [], []])
  repo.write('a.txt', 'changed\n')
  repo.write('new.txt', 'new\n')
  assert.deepEqual(await lists(), [[], ['a.txt'], ['new.txt']])
  repo.git('add', 'a.txt')
  repo.git('rm', '-q', 'b.txt')
  assert.deepEqual(await lists(), [['a.txt', 'b.txt'], [], ['new.txt']])
  repo.write('a.txt', 'changed again\n')
  assert.deepEqual(await lists(), [['a.txt', 'b.txt'], ['a.txt'], ['new.txt']])
})

test('what is in conflict is not staged', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  repo.git('checkout', '-q', '-b', 'other')
  repo.write('a.txt', 'theirs\n')
  repo.git('commit', '-qam', 'theirs')
  repo.git('checkout', '-q', 'main')
  repo.write('a.txt', 'ours\n')
  repo.git('commit', '-qam', 'ours')
  assert.throws(() => repo.git('merge', '-q', 'other'))
  const { staged, unstaged, hasConflicts } = await client.call('repo.status', { path: repo.path })
  assert.deepEqual([staged, unstaged, hasConflicts], [[], ['a.txt'], true])
})

test('diffs are texts, or structured for who asks', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  repo.write('a.txt', 'changed\n')
  repo.write('new.txt', 'new\n')
  const text = await client.call<string>('repo.diff', { path: repo.path })
  assert.match(text, /^diff --git a\/a\.txt b\/a\.txt/)
  assert.match(text, /\n\+changed\n/)
  assert.ok(!text.includes('new.txt'))
  assert.equal(await client.call('repo.diff', { path: repo.path, staged: true }), '')
  repo.git('add', 'a.txt')
  assert.equal(await client.call('repo.diff', { path: repo.path, staged: true }), text)
  for (const params of [
    { path: repo.path, file: 'a.txt' },
    { repoPath: repo.path, path: 'a.txt' },
    { repo_path: repo.path, file: 'a.txt' },
  ]) {
    assert.equal(await client.call('repo.fileDiff', params), text)
  }
  const [file] = await client.call<Json[]>('repo.diff', { path: repo.path, format: 'structured' })
  assert.equal(file?.['path'], 'a.txt')
  assert.equal((file!['hunks'] as Json[]).length, 1)
  const fresh = await client.call('repo.fileDiff', { path: repo.path, file: 'new.txt', format: 'structured' })
  assert.equal(fresh['path'], 'new.txt')
  assert.equal(await client.call('repo.fileDiff', { path: repo.path, file: 'b.txt' }), '')
})

test('the tree and a file', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  assert.deepEqual((await client.call('repo.tree', { repoPath: repo.path }))['files'], ['a.txt', 'b.txt'])
  const file = await client.call('repo.readFile', { repoPath: repo.path, path: 'a.txt' })
  assert.deepEqual([file['content'], file['sizeBytes']], ['one\n', 4])
  assert.equal((await client.refusal('repo.readFile', { repoPath: repo.path, path: '../x' })).code, -32602)
})

const wrong: [method: string, params: Json, code: number][] = [
  ['repo.open', { path: '/no/such/place' }, -32005],
  ['repo.open', { path: '/' }, -32005],
  ['repo.status', { path: '/no/such/place' }, -32005],
  ['repo.diff', { repoPath: '/' }, -32005],
  ['repo.open', { path: 'relative' }, -32602],
  ['repo.open', { path: '/tmp/\0' }, -32602],
  ['repo.open', { path: '/tmp/..' }, -32602],
  ['repo.open', {}, -32602],
  ['repo.fileDiff', { path: '/' }, -32602],
]

for (const [method, params, code] of wrong) {
  test(`${method} ${JSON.stringify(params)}: ${code}`, async (t) => {
    const client = await (await rigFor(t)).client()
    assert.equal((await client.refusal(method, params)).code, code)
  })
}

test('what changes is told to everybody, until it is closed', async (t) => {
  const { rig, client, repo, place } = await rigWithRepo(t)
  const other = await rig.client()
  await client.call('repo.open', { path: repo.path })
  repo.write('a.txt', 'changed\n')
  for (const one of [client, other]) {
    const told = await one.push('repo.statusChanged')
    assert.deepEqual(statusOf(told), ['modified a.txt'])
    assert.equal(told['repoPath'], repo.path)
    assert.equal(typeof told['seq'], 'number')
  }
  await client.call('repo.close', { path: repo.path })
  repo.write('a.txt', 'changed again\n')
  repo.write('c.txt', 'more\n')
  // Twice a change of another one is told: that of the first would have been by then.
  const second = place.repo('second')
  await client.call('repo.open', { path: second.path })
  for (const text of ['one', 'two']) {
    second.write(`${text}.txt`, text)
    const isTold = ({ files }: Json): boolean => (files as Json[]).some(({ path }) => path === `${text}.txt`)
    await other.push('repo.statusChanged', isTold)
  }
  assert.equal(other.pushes.filter(({ params }) => params['repoPath'] === repo.path).length, 1)
})

test('a session in its own worktree: its diff, merged back, and gone', async (t) => {
  const { rig, client, repo } = await rigWithRepo(t)
  const made = await client.call('session.create', { repoPath: repo.path, provider: 'demo', worktree: true })
  const sessionId = made['id'] as string
  const { path } = made['worktree'] as { path: string }
  assert.equal(made['repoPath'], path)
  assert.ok(path.startsWith(rig.home))
  assert.equal(await client.call('worktrees.diff', { sessionId }), '')
  const { writeFileSync } = await import('node:fs')
  writeFileSync(join(path, 'made.txt'), 'made\n')
  assert.match(await client.call<string>('worktrees.diff', { sessionId }), /\+made/)
  assert.equal((await client.refusal('worktrees.discard', { sessionId })).data['reason'], 'unsaved_work')
  assert.equal((await client.call('worktrees.merge', { sessionId }))['outcome'], 'merged')
  assert.equal(readFileSync(join(repo.path, 'made.txt'), 'utf8'), 'made\n')
  assert.equal((await client.call('session.delete', { sessionId }))['worktree'], 'removed')
  assert.ok(!existsSync(path))
  const plain = await rig.session(client)
  assert.equal((await client.refusal('worktrees.diff', { sessionId: plain })).data['reason'], 'no_worktree')
})

test('the same key twice is one session with one worktree', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  const params = { repoPath: repo.path, provider: 'demo', worktree: true, key: 'k' }
  const create = (): Promise<Json> => client.call('session.create', params)
  const made = [...(await Promise.all([create(), create()])), await create()]
  for (const { id, worktree } of made)
    assert.deepEqual([id, worktree], [made[0]!['id'], made[0]!['worktree']])
  assert.equal(repo.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length, 2)
  assert.equal(repo.git('branch', '--list', 'corral/*').trim().split('\n').length, 1)
})

test('a worktree stays while its agent is at work', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  const params = { repoPath: repo.path, provider: 'demo', worktree: true }
  const { id: sessionId, worktree } = await client.call('session.create', params)
  await client.call('session.sendMessage', { sessionId, content: '[[drip 1000 50]]' })
  await client.push('session.messageCreated', ({ message }) => (message as Json)['role'] === 'assistant')
  for (const method of ['worktrees.merge', 'worktrees.discard', 'worktrees.reject'])
    assert.equal((await client.refusal(method, { sessionId, force: true })).code, -32002, method)
  assert.ok(existsSync((worktree as { path: string }).path))
  await client.call('session.cancel', { sessionId })
  await client.push('session.statusChanged', ({ status }) => status === 'idle')
})

test('a deleted session leaves a worktree whose work would be lost', async (t) => {
  const { client, repo } = await rigWithRepo(t)
  repo.write('a.txt', 'not committed\n')
  const params = { repoPath: repo.path, provider: 'demo', worktree: true, carry: true }
  const { id: sessionId, worktree } = await client.call('session.create', params)
  const { path } = worktree as { path: string }
  assert.equal(readFileSync(join(path, 'a.txt'), 'utf8'), 'not committed\n')
  const { writeFileSync } = await import('node:fs')
  writeFileSync(join(path, 'made.txt'), 'made\n')
  assert.equal((await client.call('session.delete', { sessionId }))['worktree'], 'kept')
  assert.ok(existsSync(join(path, 'made.txt')))
})
