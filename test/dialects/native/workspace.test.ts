import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { goOn, HELD } from '../../support/held.ts'
import { aPlace, type Checkout, type Place } from '../../workspace/support.ts'
import { readTo, refusal, turn } from './support.ts'

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

async function sessionIn({ path }: Pick<Checkout, 'path'>, worktree = false): Promise<string> {
  return (await client.call('session.create', { agent: 'demo', cwd: path, worktree })).id
}

/** A turn during which the agent does this to the files. */
async function turnThat(sessionId: string, work: () => void): Promise<string> {
  const { turnId, seq, log } = await client.call('session.send', { sessionId, content: HELD })
  await readTo(client.events({ after: seq, log, sessionId }), 'approval.requested')
  work()
  await goOn(daemon, sessionId)
  await readTo(client.events({ after: seq, log, sessionId }), 'turn.completed')
  await client.call('checkpoint.list', { sessionId })
  return turnId
}

test('files of a session: listed, read and found', async () => {
  const repo = place.repo('files', { 'src/main.ts': 'export {}\n', 'README.md': '# Hi\n' })
  symlinkSync('/etc', join(repo.path, 'link'))
  const sessionId = await sessionIn(repo)
  const { entries } = await client.call('files.list', { sessionId })
  assert.deepEqual(
    entries.map(({ name, kind }) => [name, kind]),
    [
      ['src', 'directory'],
      ['README.md', 'file'],
      ['link', 'link'],
    ],
  )
  const piece = await client.call('files.read', { sessionId, path: 'src/main.ts' })
  assert.deepEqual([piece.text, piece.size, piece.truncated], ['export {}\n', 10, false])
  const { files } = await client.call('files.find', { sessionId, query: 'main' })
  assert.deepEqual(
    files.map(({ path }) => path),
    ['src/main.ts'],
  )
  const codes = await Promise.all(
    ['link/passwd', '../x', 'not there', 'link'].map(
      async (path) => (await refusal(client.call('files.read', { sessionId, path }))).code,
    ),
  )
  assert.deepEqual(codes, ['invalid', 'invalid', 'path_not_found', 'invalid'])
  const other = await refusal(client.call('files.list', { sessionId: 'none' }))
  assert.equal(other.code, 'session_not_found')
})

test('changes of a turn, a session, a branch and since the last commit', async () => {
  const repo = place.repo('changes', { 'a.txt': 'one\n', 'b.txt': 'one\n' })
  repo.write('b.txt', 'mine, before\n')
  const sessionId = await sessionIn(repo)
  const first = await turnThat(sessionId, () => repo.write('a.txt', 'two\n'))
  await turnThat(sessionId, () => repo.write('c.txt', 'new\n'))
  const paths = async (params: { scope: 'turn' | 'session' | 'branch' | 'uncommitted'; turnId?: string }) => {
    const { files } = await client.call('changes.read', { sessionId, ...params })
    return files.map(({ path }) => path)
  }
  assert.deepEqual(await paths({ scope: 'turn', turnId: first }), ['a.txt'])
  assert.deepEqual(await paths({ scope: 'turn' }), ['c.txt'])
  assert.deepEqual(await paths({ scope: 'session' }), ['a.txt', 'c.txt'])
  assert.deepEqual(await paths({ scope: 'uncommitted' }), ['a.txt', 'b.txt', 'c.txt'])
  const branch = await client.call('changes.read', { sessionId, scope: 'branch' })
  assert.match(branch.reason!, /no branch/)
  const unknown = await client.call('changes.read', { sessionId, scope: 'turn', turnId: 'none' })
  assert.match(unknown.reason!, /no checkpoint/)
})

test('a checkpoint is restored with a preview, refused for the work of others, and undone', async () => {
  const repo = place.repo('restored', { 'a.txt': 'one\n' })
  const sessionId = await sessionIn(repo, true)
  const { cwd } = await client.call('session.get', { sessionId })
  const file = join(cwd, 'a.txt')
  const turnId = await turnThat(sessionId, () => writeFileSync(file, 'two\n'))
  const { checkpoints } = await client.call('checkpoint.list', { sessionId })
  assert.equal(checkpoints.length, 1)
  assert.equal(repo.git('rev-parse', checkpoints[0]!.ref).trim(), checkpoints[0]!.tree)
  const preview = await client.call('checkpoint.preview', { sessionId, turnId })
  assert.deepEqual(
    [preview.canRestore, preview.files[0]?.hunks[0]?.lines.map(({ kind, text }) => kind + text)],
    [true, ['-two', '+one']],
  )
  writeFileSync(file, 'mine\n')
  const refused = await refusal(client.call('checkpoint.restore', { sessionId, turnId }))
  assert.deepEqual([refused.code, refused.data['files']], ['unsaved_work', ['a.txt']])
  const { undo, restored } = await client.call('checkpoint.restore', { sessionId, turnId, force: true })
  assert.equal(restored, 1)
  await client.call('checkpoint.restore', { sessionId, turnId: undo.turnId })
  assert.equal((await client.call('files.read', { sessionId, path: 'a.txt' })).text, 'mine\n')
  const none = await refusal(client.call('checkpoint.restore', { sessionId, turnId: 'none' }))
  assert.equal(none.code, 'turn_not_found')
  const { seq } = await client.call('session.send', { sessionId, content: HELD })
  await readTo(client.events({ after: seq, sessionId }), 'approval.requested')
  const busy = await refusal(client.call('checkpoint.restore', { sessionId, turnId }))
  assert.equal(busy.code, 'conversation_busy')
  await goOn(daemon, sessionId)
  await readTo(client.events({ after: seq, sessionId }), 'turn.completed')
  await client.call('session.destroy', { sessionId })
  assert.equal(repo.git('for-each-ref', 'refs/corral/checkpoints').trim(), '')
})

test('comments are collected, sent as one message, and stale when the code has changed', async () => {
  const repo = place.repo('reviewed', { 'a.txt': 'one\ntwo\nthree\n' })
  const sessionId = await sessionIn(repo)
  await turnThat(sessionId, () => repo.write('a.txt', 'one\n2\n3\n'))
  const { files } = await client.call('changes.read', { sessionId, scope: 'turn' })
  const hunk = files[0]!.hunks[0]!
  const lines = { sessionId, path: 'a.txt', hunk }
  const two = await client.call('review.add', { ...lines, side: 'new', line: 2, text: 'Why a digit?' })
  const old = await client.call('review.add', {
    ...lines,
    side: 'old',
    line: 2,
    endLine: 3,
    text: 'These were better.',
  })
  const away = await client.call('review.add', { ...lines, side: 'new', line: 3, text: 'never mind' })
  assert.deepEqual([two.endLine, two.stale, two.sentIn], [2, false, null])
  const nowhere = await refusal(client.call('review.add', { ...lines, side: 'new', line: 99, text: 'x' }))
  assert.equal(nowhere.code, 'invalid')
  await client.call('review.remove', { commentId: away.id })
  await client.call('review.update', { commentId: two.id, text: 'Why a digit? ```' })
  repo.write('a.txt', 'zero\none\n2\n3\n')
  const stale = async (): Promise<[string, boolean][]> =>
    (await client.call('review.list', { sessionId })).comments.map((one) => [one.text, one.stale])
  assert.deepEqual(await stale(), [
    ['Why a digit? ```', false],
    ['These were better.', false],
  ])
  repo.write('a.txt', 'one\ntwo\nthree\n')
  assert.deepEqual(await stale(), [
    ['Why a digit? ```', true],
    ['These were better.', true],
  ])
  const sent = await client.call('review.send', { sessionId, commentIds: [old.id], note: 'Please look:' })
  assert.deepEqual(sent.comments, [old.id])
  const events = await readTo(
    client.events({ after: sent.seq - 1, log: sent.log, sessionId }),
    'turn.completed',
  )
  const [queued] = events
  assert.ok(queued?.type === 'turn.queued' && queued.input[0]?.type === 'text')
  assert.equal(
    queued.input[0].text,
    [
      'Please look:',
      'a.txt, lines 2-3 (before the change):',
      '```diff\n-two\n-three\n```',
      'These were better.',
    ].join('\n\n'),
  )
  assert.ok(events.some((event) => event.type === 'review.sent' && event.turnId === sent.turnId))
  const { comments } = await client.call('review.list', { sessionId })
  assert.deepEqual(
    comments.map(({ sentIn }) => sentIn),
    [null, sent.turnId],
  )
  assert.equal(
    (await refusal(client.call('review.update', { commentId: old.id, text: 'x' }))).code,
    'invalid',
  )
  assert.equal(
    (await refusal(client.call('review.send', { sessionId, commentIds: [old.id] }))).code,
    'invalid',
  )
  await client.call('review.send', { sessionId })
  assert.equal((await refusal(client.call('review.send', { sessionId }))).code, 'invalid')
})

test('a review goes to the turn that runs, if that is wanted', async () => {
  const repo = place.repo('steered', { 'a.txt': 'one\n' })
  const sessionId = await sessionIn(repo)
  const { turnId, seq } = await client.call('session.send', { sessionId, content: HELD })
  await readTo(client.events({ after: seq, sessionId }), 'approval.requested')
  const sent = await client.call('review.send', { sessionId, note: 'Look again', busy: 'steer' })
  assert.equal(sent.steered, turnId)
  await goOn(daemon, sessionId)
  await readTo(client.events({ after: seq, sessionId }), 'turn.completed')
})

test('comments are bounded', async () => {
  const repo = place.repo('bounded', { 'a.txt': 'one\n' })
  const sessionId = await sessionIn(repo)
  const line = { kind: '+' as const, text: 'x', old: null, new: 1 }
  const hunk = { oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, header: '', lines: [line] }
  const add = (more: object = {}) =>
    client.call('review.add', { sessionId, path: 'a.txt', side: 'new', line: 1, text: 'x', hunk, ...more })
  await Promise.all(Array.from({ length: 500 }, () => add()))
  assert.equal((await refusal(add())).code, 'queue_full')
  for (const more of [
    { text: 'x'.repeat(10_001) },
    { endLine: 600 },
    { hunk: { ...hunk, lines: Array.from({ length: 2001 }, () => line) } },
  ])
    assert.equal((await refusal(add(more))).code, 'invalid')
  const { comments } = await client.call('review.send', { sessionId })
  assert.equal(comments.length, 500)
})

test('comments, and the states to go back to, outlive the daemon', async () => {
  const repo = place.repo('outlives', { 'a.txt': 'one\n' })
  const sessionId = await sessionIn(repo)
  const turnId = await turnThat(sessionId, () => repo.write('a.txt', 'two\n'))
  const { files } = await client.call('changes.read', { sessionId, scope: 'turn' })
  await client.call('review.add', {
    sessionId,
    path: 'a.txt',
    side: 'new',
    line: 1,
    text: 'hm',
    hunk: files[0]!.hunks[0]!,
  })
  client.close()
  await daemon.kill9()
  await daemon.restart()
  client = await connect(daemon.socket)
  assert.equal((await client.call('review.list', { sessionId })).comments[0]?.text, 'hm')
  await client.call('checkpoint.restore', { sessionId, turnId })
  assert.equal((await client.call('files.read', { sessionId, path: 'a.txt' })).text, 'one\n')
})

test('without a repository, and with checkpoints switched off, the rest works', async (t) => {
  mkdirSync(join(place.root, 'plain'))
  const sessionId = await sessionIn({ path: join(place.root, 'plain') })
  await turn(client, sessionId, '[[say hi]]')
  assert.match((await client.call('checkpoint.list', { sessionId })).reason!, /not in a git repository/)
  const off = await startDaemon({
    env: { CORRAL_CHECKPOINTS_ENABLED: 'false', CORRAL_CLAWDE_ENABLED: 'false' },
  })
  t.after(() => off.stop())
  const other = await connect(off.socket)
  t.after(() => other.close())
  const repo = place.repo('off', { 'a.txt': 'one\n' })
  const { id } = await other.call('session.create', { agent: 'demo', cwd: repo.path })
  await turn(other, id, '[[say hi]]')
  assert.match((await other.call('checkpoint.list', { sessionId: id })).reason!, /switched off/)
  repo.write('a.txt', 'two\n')
  assert.equal((await other.call('changes.read', { sessionId: id, scope: 'uncommitted' })).files.length, 1)
  const refused = await refusal(other.call('checkpoint.restore', { sessionId: id, turnId: 'x' }))
  assert.equal(refused.code, 'unsupported')
  assert.equal(repo.git('for-each-ref', 'refs/corral').trim(), '')
})
