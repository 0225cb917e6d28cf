import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, test } from 'node:test'
import { NO_RULES } from '../../src/core/rule.ts'
import { answerTo, ask, code, newSession, statusesOf } from '../support/asking.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

let t: TestEngine
beforeEach(async () => {
  t = await startEngine()
})
afterEach(() => t.stop())

/** A directory below the test's own. */
function directory(name: string): string {
  const path = join(t.cwd, name)
  mkdirSync(path, { recursive: true })
  return path
}

async function answerIn(cwd: string, command = 'ls'): Promise<string> {
  return answerTo(t, (await ask(t, await newSession(t, { cwd }), { input: { command } })).id)
}

test('rules of a project hold in its directory and below, and not beside it or above', async () => {
  const project = directory('a/b')
  await t.engine.directories.configure(project, { allow: ['Bash'] })
  assert.equal(await answerIn(project), 'allow by rule')
  assert.equal(await answerIn(directory('a/b/c/d')), 'allow by rule')
  assert.equal(await answerIn(directory('a/bc')), 'open')
  assert.equal(await answerIn(directory('a')), 'open')
})

test('rules of a checkout hold in its worktrees, and a yes for the project is one for the checkout', async () => {
  const [checkout, worktree] = [directory('checkout'), directory('worktrees/1')]
  await t.engine.directories.configure(checkout, { deny: ['shell(git push*)'] })
  const session = await newSession(t, { cwd: worktree, worktreeOf: checkout })
  assert.equal(answerTo(t, (await ask(t, session, { input: { command: 'git push' } })).id), 'deny by rule')
  const input = { file_path: join(worktree, 'a') }
  const edit = await ask(t, session, { tool: 'Edit', edits: true, input })
  assert.deepEqual(t.engine.approvals.context(edit.id).effects, {
    session: [`Edit(${worktree}/*)`],
    directory: [`Edit(${checkout}/*)`],
    path: checkout,
  })
  await t.engine.approvals.decide({
    approvalId: edit.id,
    decision: { behavior: 'allow', forDirectory: true },
    by: 'test',
  })
  assert.deepEqual(t.engine.directories.list()[0]!.rules.allow, [`Edit(${checkout}/*)`])
  const other = await newSession(t, { cwd: directory('worktrees/2'), worktreeOf: checkout })
  const again = await ask(t, other, { tool: 'Edit', edits: true, input: { file_path: 'b' } })
  assert.equal(answerTo(t, again.id), 'allow by rule')
  const beside = await newSession(t, { cwd: directory('worktrees/3') })
  const third = await ask(t, beside, { tool: 'Edit', edits: true, input: { file_path: 'b' } })
  assert.equal(answerTo(t, third.id), 'open')
})

test('a slash at the end makes no other project, and the root holds everything', async () => {
  const project = directory('p')
  const { path } = await t.engine.directories.configure(`${project}/`, { allow: ['Bash(ls)'] })
  assert.equal(path, project)
  await t.engine.directories.configure(project, { deny: ['Bash(rm *)'] })
  assert.deepEqual(t.engine.directories.list(), [
    { path: project, rules: { ...NO_RULES, allow: ['Bash(ls)'], deny: ['Bash(rm *)'] } },
  ])
  await t.engine.directories.configure('/', { allow: ['Bash(pwd)'] })
  assert.equal(await answerIn(directory('elsewhere'), 'pwd'), 'allow by rule')
})

test('a denial wins: of the project over the session, of the session over the project, of one directory over another', async () => {
  const inner = directory('outer/inner')
  const outer = directory('outer')
  await t.engine.directories.configure(outer, { deny: ['Bash(rm *)'], allow: ['Bash(git *)'] })
  await t.engine.directories.configure(inner, { allow: ['*'] })
  assert.equal(await answerIn(inner, 'rm x'), 'deny by rule')
  assert.equal(await answerIn(inner, 'ls'), 'allow by rule')
  const session = await newSession(t, { cwd: inner, rules: { ...NO_RULES, deny: ['Bash(git push*)'] } })
  const push = await ask(t, session, { input: { command: 'git push' } })
  assert.equal(answerTo(t, push.id), 'deny by rule')
  const auto = await newSession(t, { cwd: outer, mode: 'auto', rules: { ...NO_RULES, allow: ['*'] } })
  assert.equal(answerTo(t, (await ask(t, auto, { input: { command: 'rm x' } })).id), 'deny by rule')
})

test('new rules answer what is open in the project, once, and nothing elsewhere', async () => {
  const [here, below, beside] = [directory('x'), directory('x/y'), directory('xy')]
  const sessions = await Promise.all([here, below, beside].map((cwd) => newSession(t, { cwd })))
  const rows = await Promise.all(sessions.map((id) => ask(t, id)))
  const question = await ask(t, sessions[0]!, { kind: 'question' })
  await t.engine.directories.configure(here, { allow: ['Bash(ls)'] })
  assert.deepEqual(
    rows.map(({ id }) => answerTo(t, id)),
    ['allow by rule', 'allow by rule', 'open'],
  )
  assert.equal(answerTo(t, question.id), 'open', 'a question is for the human')
  assert.deepEqual(
    sessions.map((id) => statusesOf(t, id)),
    [['waiting'], ['waiting', 'idle'], ['waiting']],
  )
})

test('project rules answer the questions of the agent itself', async () => {
  await t.engine.directories.configure(t.cwd, { allow: ['Shell(l*)'], deny: ['Shell(rm *)'] })
  const id = await newSession(t)
  const answer = async (text: string): Promise<string[]> =>
    (await t.turn(id, text)).flatMap((event) =>
      event.type === 'approval.resolved' ? [`${event.decision.behavior} by ${event.by}`] : [],
    )
  assert.deepEqual(await answer('[[shell ls]]'), ['allow by rule'])
  assert.deepEqual(await answer('[[shell rm -rf x]]'), ['deny by rule'])
})

test('allowed for the project: the same thing passes in every session there, also after a restart', async () => {
  const cwd = directory('p')
  const [one, two] = [await newSession(t, { cwd }), await newSession(t, { cwd })]
  const [first, second, other] = [
    await ask(t, one),
    await ask(t, two),
    await ask(t, two, { input: { command: 'rm x' } }),
  ]
  await t.engine.approvals.decide({
    approvalId: first.id,
    decision: { behavior: 'allow', forDirectory: true },
    by: 'me',
  })
  assert.equal(answerTo(t, second.id), 'allow by rule')
  assert.equal(answerTo(t, other.id), 'open')
  assert.deepEqual(t.engine.sessions.get(one).rules, NO_RULES, 'it is a rule of the project')
  assert.deepEqual(t.engine.directories.list(), [{ path: cwd, rules: { ...NO_RULES, allow: ['Bash(ls)'] } }])
  await t.abandon()
  t = await startEngine({ home: t.home })
  assert.equal(await answerIn(cwd), 'allow by rule')
  assert.equal(await answerIn(directory('q')), 'open')
})

test('rules of a directory are events: everybody hears of them, in the order of the log', async () => {
  const heard: unknown[] = []
  const all = t.engine.events.subscribe(
    { after: t.engine.events.head, types: ['directory.changed'] },
    (events) => {
      for (const { event } of events) heard.push([event.sessionId, 'path' in event && event.path])
    },
  )
  const path = directory('p')
  await t.engine.directories.configure(path, { allow: ['Bash(ls)'] })
  all.close()
  assert.deepEqual(heard, [['', path]])
  const id = await newSession(t, { cwd: path })
  assert.deepEqual(
    t.engine.events.read({ sessionId: id, after: 0, types: ['directory.changed'], limit: 9 }),
    [],
    'it belongs to no session',
  )
})

test('a decision for the project and its rule are one commit', async () => {
  const id = await newSession(t)
  const { id: approvalId } = await ask(t, id)
  const decide = () =>
    t.engine.approvals.decide({ approvalId, decision: { behavior: 'allow', forDirectory: true }, by: 'me' })
  // The log takes the decision, or it does not: there is no second batch that could be lost.
  const append = t.log.append.bind(t.log)
  const batches: string[][] = []
  t.log.append = (batch) => {
    batches.push(batch.events.map(({ type }) => type))
    return append(batch)
  }
  await decide()
  assert.deepEqual(batches[0], ['approval.resolved', 'directory.changed', 'session.status'])
})

test('a decision for the project that the log cannot take leaves no rule', async () => {
  const id = await newSession(t)
  const { id: approvalId } = await ask(t, id)
  const decision = { behavior: 'allow', forDirectory: true } as const
  const db = new DatabaseSync(join(t.home, 'corral.db'))
  db.exec("CREATE TRIGGER full BEFORE INSERT ON directories BEGIN SELECT raise(ABORT, 'disk full'); END")
  await assert.rejects(t.engine.approvals.decide({ approvalId, decision, by: 'me' }), code('storage'))
  assert.equal(answerTo(t, approvalId), 'open')
  assert.deepEqual(t.engine.directories.list(), [])
  db.exec('DROP TRIGGER full')
  db.close()
  await t.engine.approvals.decide({ approvalId, decision, by: 'me' })
  assert.deepEqual(
    t.engine.directories.list().map(({ rules }) => rules.allow),
    [['Bash(ls)']],
  )
})

test('what a rule answers is answered by the next engine, if the one that made it has gone down', async () => {
  const id = await newSession(t)
  const open = await ask(t, id)
  const { home, cwd } = t
  await t.abandon()
  // The rule is in the log, and nothing that follows from it.
  const db = new DatabaseSync(join(home, 'corral.db'))
  const rules = JSON.stringify({ ...NO_RULES, allow: ['Bash(ls)'] })
  db.prepare('INSERT INTO directories(path, rules) VALUES (?, ?)').run(cwd, rules)
  db.close()
  t = await startEngine({ home })
  assert.equal(answerTo(t, open.id), 'allow by rule')
})

test('what is denied or a question makes no rule for the project', async () => {
  const id = await newSession(t)
  const question = await ask(t, id, { kind: 'question' })
  const decision = { behavior: 'allow', forDirectory: true } as const
  await t.engine.approvals.decide({ approvalId: question.id, decision, by: 'me' })
  assert.deepEqual(t.engine.directories.list(), [])
})

test('two things allowed for the project at the same time are two rules', async () => {
  const id = await newSession(t)
  const rows = [await ask(t, id), await ask(t, id, { input: { command: 'pwd' } })]
  const decision = { behavior: 'allow', forDirectory: true } as const
  await Promise.all(rows.map((row) => t.engine.approvals.decide({ approvalId: row.id, decision, by: 'me' })))
  const allowed = t.engine.directories.list().flatMap(({ rules }) => rules.allow)
  assert.deepEqual(allowed.toSorted(), ['Bash(ls)', 'Bash(pwd)'])
})

test('what is asked while the rules of its project change is not left open', async () => {
  const id = await newSession(t)
  for (let steps = 0; steps < 12; steps++) {
    const changing = t.engine.directories.configure(t.cwd, { allow: [`Tool${steps}`] })
    for (let step = 0; step < steps; step++) await Promise.resolve()
    const [asked] = await Promise.all([ask(t, id, { tool: `Tool${steps}` }), changing])
    assert.equal(answerTo(t, asked.id), 'allow by rule', `asked ${steps} steps after the change began`)
  }
})

test('rules that could not be written down do not hold', async () => {
  const { cwd, engine, home } = t
  await engine.directories.configure(cwd, { allow: ['Read'] })
  const known = engine.directories.list()
  const db = new DatabaseSync(join(home, 'corral.db'))
  try {
    db.exec(
      `CREATE TRIGGER full BEFORE INSERT ON directories BEGIN SELECT raise(ABORT, 'the disk is full'); END`,
    )
    const changes = await Promise.allSettled([
      engine.directories.configure(cwd, { allow: ['Bash'] }),
      engine.directories.configure(cwd, { deny: ['Bash'] }),
      engine.directories.configure(directory('new'), { allow: ['Bash'] }),
    ])
    for (const change of changes) assert.equal(change.status === 'rejected' && change.reason.code, 'storage')
    db.exec('DROP TRIGGER full')
  } finally {
    db.close()
  }
  assert.deepEqual(engine.directories.list(), known)
  assert.equal(await answerIn(cwd), 'open')
})

test('a link to the directory is no way around its rules, whichever of the two they name', async () => {
  const link = join(t.home, 'link')
  symlinkSync(t.cwd, link)
  await t.engine.directories.configure(t.cwd, { deny: ['Bash'] })
  assert.equal(answerTo(t, (await ask(t, await newSession(t, { cwd: link }))).id), 'deny by rule')
  await t.engine.directories.configure(t.cwd, { deny: [] })
  await t.engine.directories.configure(`${link}/`, { allow: ['Bash'] })
  assert.equal(answerTo(t, (await ask(t, await newSession(t))).id), 'allow by rule')
})
