import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { code, eventsOf } from '../support/asking.ts'
import { goOn, HELD } from '../support/held.ts'
import { startEngine } from '../support/engine.ts'
import { until } from '../support/wait.ts'
import { ENV, listed, newSession, read, started, turnThat } from './checkpoints-support.ts'

test('each turn has a checkpoint from before it, and restoring one can be undone', async (context) => {
  const { t, repo } = await started(context)
  const id = await newSession(t)
  const first = await turnThat(t, id, () => repo.write('a.txt', 'two\n'))
  const second = await turnThat(t, id, () => {
    repo.write('a.txt', 'three\n')
    repo.write('b.txt', 'new\n')
  })
  const found = await listed(t, id)
  assert.deepEqual(
    found.map(({ turnId, kind, files }) => [turnId, kind, files]),
    [
      [second, 'turn', 2],
      [first, 'turn', 1],
    ],
  )
  assert.equal(repo.git('cat-file', 'blob', `${found[0]!.ref}:a.txt`), 'two\n')
  assert.equal(found[1]!.ref, `refs/corral/checkpoints/${id}/${first}`)
  const preview = await t.engine.checkpoints.preview(id, first)
  assert.deepEqual([preview.canRestore, preview.reason, preview.conflicts], [true, null, []])
  assert.deepEqual(
    preview.files.map(({ path, status }) => [path, status]),
    [
      ['a.txt', 'modified'],
      ['b.txt', 'deleted'],
    ],
  )
  const { restored, undo } = await t.engine.checkpoints.restore({ sessionId: id, id: first })
  assert.equal(restored, 2)
  assert.equal(read(repo), 'one\n')
  assert.equal(existsSync(join(repo.path, 'b.txt')), false)
  const [restoring] = eventsOf(t, id, 'checkpoint.restored')
  assert.deepEqual([restoring?.checkpointId, restoring?.undo, restoring?.files], [first, undo.turnId, 2])
  // What Corral itself has done is nobody's work.
  await t.engine.checkpoints.restore({ sessionId: id, id: second })
  assert.equal(read(repo), 'two\n')
  await t.engine.checkpoints.restore({ sessionId: id, id: undo.turnId })
  assert.deepEqual([read(repo), read(repo, 'b.txt')], ['three\n', 'new\n'])
  assert.equal((await listed(t, id)).filter(({ kind }) => kind === 'undo').length, 3)
})

test("a person's own work since the last turn is not lost", async (context) => {
  const { t, repo } = await started(context)
  const id = await newSession(t)
  const turnId = await turnThat(t, id, () => repo.write('a.txt', 'two\n'))
  repo.write('a.txt', 'mine\n')
  const preview = await t.engine.checkpoints.preview(id, turnId)
  assert.deepEqual([preview.canRestore, preview.conflicts.map(({ path }) => path)], [false, ['a.txt']])
  await assert.rejects(t.engine.checkpoints.restore({ sessionId: id, id: turnId }), code('unsaved_work'))
  assert.equal(read(repo), 'mine\n')
  assert.equal(eventsOf(t, id, 'checkpoint.restored').length, 0)
  const { undo } = await t.engine.checkpoints.restore({ sessionId: id, id: turnId, force: true })
  assert.equal(read(repo), 'one\n')
  await t.engine.checkpoints.restore({ sessionId: id, id: undo.turnId })
  assert.equal(read(repo), 'mine\n')
})

test('a message that waits gets a checkpoint of what the turn before has left', async (context) => {
  const { t, repo } = await started(context)
  const id = await newSession(t)
  const send = (text: string) => t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text }] })
  const first = await send(HELD)
  await t.event('approval.requested', { sessionId: id })
  const second = await send(HELD)
  repo.write('a.txt', 'by the first\n')
  await goOn(t, id)
  const asked = await t.event('approval.requested', {
    sessionId: id,
    after: (await t.event('turn.completed', { sessionId: id })).seq,
  })
  assert.equal(asked.turnId, second.turnId)
  repo.write('a.txt', 'by the second\n')
  const during = await t.engine.checkpoints.changes({ sessionId: id, scope: 'turn' })
  assert.equal(during.turnId, second.turnId)
  assert.deepEqual(
    during.files[0]?.hunks[0]?.lines.map(({ kind, text }) => kind + text),
    ['-by the first', '+by the second'],
  )
  await goOn(t, id)
  await t.event('turn.completed', { sessionId: id, after: asked.seq })
  const of = async (turnId: string): Promise<string[]> => {
    const { files } = await t.engine.checkpoints.changes({ sessionId: id, scope: 'turn', turnId })
    return files.flatMap(({ hunks }) =>
      hunks.flatMap(({ lines }) => lines.map(({ kind, text }) => kind + text)),
    )
  }
  await listed(t, id)
  repo.write('a.txt', 'mine\n')
  assert.deepEqual(await of(first.turnId), ['-one', '+by the first'])
  assert.deepEqual(await of(second.turnId), ['-by the first', '+by the second'])
  const counts = (await listed(t, id)).map((one) => one.files)
  assert.deepEqual(counts, [1, 1])
  const { files } = await t.engine.checkpoints.changes({ sessionId: id, scope: 'session' })
  assert.deepEqual(
    files[0]?.hunks[0]?.lines.map(({ kind, text }) => kind + text),
    ['-one', '+mine'],
  )
})

test('nothing is restored while a turn runs in the work tree, in this session or another', async (context) => {
  const { t, repo } = await started(context)
  const id = await newSession(t)
  const turnId = await turnThat(t, id, () => repo.write('a.txt', 'two\n'))
  mkdirSync(join(t.cwd, 'below'))
  const other = await newSession(t, join(t.cwd, 'below'))
  await t.engine.turns.send({ sessionId: other, input: [{ type: 'text', text: HELD }] })
  await t.event('approval.requested', { sessionId: other })
  const preview = await t.engine.checkpoints.preview(id, turnId)
  assert.equal(preview.canRestore, false)
  assert.match(preview.reason!, /Another session is working/)
  await assert.rejects(t.engine.checkpoints.restore({ sessionId: id, id: turnId }), code('conversation_busy'))
  await goOn(t, other)
  await t.event('turn.completed', { sessionId: other })
  const later = await t.engine.checkpoints.preview(id, turnId)
  assert.equal(later.canRestore, true)
  assert.match(later.reason!, /Another session has worked/)
  await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: HELD }] })
  await assert.rejects(t.engine.checkpoints.restore({ sessionId: id, id: turnId }), code('conversation_busy'))
  await goOn(t, id)
})

test('a message that comes while files are restored reaches the agent afterwards', async (context) => {
  const { t, repo } = await started(context)
  const id = await newSession(t)
  const turnId = await turnThat(t, id, () => repo.write('a.txt', 'two\n'))
  const restoring = t.engine.checkpoints.restore({ sessionId: id, id: turnId })
  const { turnId: next } = await t.engine.turns.send({
    sessionId: id,
    input: [{ type: 'text', text: '[[say hi]]' }],
  })
  await restoring
  await t.read(
    { after: 0, sessionId: id },
    'its end',
    ({ event }) => event.type === 'turn.completed' && event.turnId === next,
  )
  const [checkpoint] = await listed(t, id)
  assert.equal(checkpoint?.turnId, next)
  assert.equal(repo.git('cat-file', 'blob', `${checkpoint.tree}:a.txt`), 'one\n')
})

test('an agent in a directory without a repository has no checkpoints, and hears no word of it', async (context) => {
  const t = await startEngine({ checkpoints: true, env: ENV })
  context.after(() => t.stop())
  const id = await newSession(t)
  await t.turn(id, '[[say hi]]')
  const { checkpoints, reason } = await t.engine.checkpoints.list(id)
  assert.deepEqual(checkpoints, [])
  assert.match(reason!, /not in a git repository/)
  assert.match(
    (await t.engine.checkpoints.changes({ sessionId: id, scope: 'turn' })).reason!,
    /not in a git repository/,
  )
  assert.deepEqual(eventsOf(t, id, 'agent.notice'), [])
})

test('an agent without tools has no checkpoints', async (context) => {
  const { t } = await started(context)
  const { id } = await t.engine.sessions.create({
    agent: 'demo',
    cwd: t.cwd,
    settings: { clientTools: [], ownTools: false },
  })
  await t.turn(id, '[[say hi]]')
  assert.deepEqual(await listed(t, id), [])
})

test('a repository that git refuses is told of once', async (context) => {
  const { t, repo } = await started(context)
  writeFileSync(join(repo.path, '.git/HEAD'), 'nonsense')
  const id = await newSession(t)
  await t.turn(id, '[[say hi]]')
  await t.turn(id, '[[say hi]]')
  const notices = eventsOf(t, id, 'agent.notice')
  assert.deepEqual(
    notices.map(({ code: name }) => name),
    ['no_checkpoint'],
  )
})

test('an agent that may have the message already gets no checkpoint: it may have begun', async (context) => {
  const { t, repo, next } = await started(context)
  const id = await newSession(t)
  await t.turn(id, '[[say warm]]')
  await until(async () => (await listed(t, id)).length === 1)
  // The message is written down, and the agent is never told: whether it was, the next daemon cannot know.
  Object.assign(t.host, { prompt: () => {} })
  const { turnId, seq } = await t.engine.turns.send({
    sessionId: id,
    input: [{ type: 'text', text: '[[say again]]' }],
  })
  await until(async () => (await listed(t, id)).length === 2)
  t.log.append({ events: [], writes: [{ op: 'checkpoints.drop', sessionId: id }] }).catch(() => {})
  repo.write('a.txt', 'maybe by the agent\n')
  const later = await next()
  await later.event('turn.completed', { sessionId: id, after: seq })
  assert.deepEqual(
    (await listed(later, id)).filter((one) => one.turnId === turnId),
    [],
  )
  assert.equal(eventsOf(later, id, 'turn.completed').length, 2)
})

test('the refs of a session go with it, also when a daemon has ended in between', async (context) => {
  const { t, repo, next } = await started(context)
  const refs = (): string => repo.git('for-each-ref', '--format=%(refname)', 'refs/corral').trim()
  const [one, two] = [await newSession(t), await newSession(t)]
  await t.turn(one, '[[say hi]]')
  await t.turn(two, '[[say hi]]')
  await until(() => refs().split('\n').length >= 2)
  await t.engine.sessions.destroy(one)
  assert.ok(!refs().includes(one), refs())
  assert.ok(refs().includes(two), refs())
  // As a daemon leaves it that ends right after the commit.
  repo.git('update-ref', `refs/corral/checkpoints/${one}/left`, 'HEAD^{tree}')
  const { tree } = (await listed(t, two))[0]!
  const row = {
    sessionId: one,
    id: 'left',
    kind: 'before',
    seq: 1,
    at: 1,
    tree,
    ref: '',
    files: null,
    left: [],
  } as const
  const checkpoint = { ...row, left: [], repository: join(repo.path, '.git') }
  await t.log.append({ events: [], writes: [{ op: 'checkpoint', checkpoint }] })
  const later = await next()
  await until(() => !refs().includes(one))
  await until(() => later.log.checkpointsLeft().length === 0)
})

test('a turn has one ref, and a hundred turns can be gone back to', async (context) => {
  const { t, repo } = await started(context)
  const id = await newSession(t)
  await turnThat(t, id, () => repo.write('a.txt', 'two\n'))
  await t.turn(id, '[[say hi]]')
  await listed(t, id)
  const refs = (): string[] =>
    repo.git('for-each-ref', '--format=%(refname)', 'refs/corral').trim().split('\n')
  await until(
    () => refs().length === 3,
    () => refs().join(', '),
  )
  const [newest] = t.log.checkpoints(id)
  // Older ones, as if there had been as many turns.
  const writes = Array.from({ length: 120 }, (_, n) => ({
    op: 'checkpoint' as const,
    checkpoint: {
      ...newest!,
      id: `old-${n}`,
      kind: 'before' as const,
      seq: -1000 + n,
      ref: `refs/corral/checkpoints/${id}/old-${n}`,
    },
  }))
  for (const { checkpoint } of writes) repo.git('update-ref', checkpoint.ref, checkpoint.tree)
  await t.log.append({ events: [], writes })
  await t.turn(id, '[[say hi]]')
  await until(async () => (await listed(t, id)).length === 100)
  assert.ok(!refs().includes(`refs/corral/checkpoints/${id}/old-0`))
  assert.ok(refs().includes(`refs/corral/checkpoints/${id}/old-119`))
})
