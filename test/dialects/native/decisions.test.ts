import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type Api, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { demoSession, refusal } from './support.ts'

let daemon: TestDaemon
let client: NativeClient

before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket, { reconnect: true })
})

after(async () => {
  client.close()
  await daemon.stop()
})

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** A session whose agent asks about the first call of this script. */
async function asking(script: string) {
  const { id: sessionId } = await demoSession(client, daemon, 'ask')
  await client.call('session.send', { sessionId, content: script })
  return { sessionId, approvalId: await question(sessionId) }
}

async function question(sessionId: string): Promise<string> {
  const open = async () => (await client.call('approval.list', { sessionId })).approvals[0]?.id
  return until(open, 'the agent asks')
}

test('an approval that is put off waits on, over a restart too, until somebody answers', async () => {
  const { sessionId, approvalId } = await asking('[[shell make]]')
  const until = Date.now() + 3_600_000
  const deferred = await client.call('approval.defer', { approvalId, until })
  assert.deepEqual([deferred.deferredUntil, deferred.decision], [until, null])
  await client.call('approval.defer', { approvalId, until })
  await daemon.kill9()
  await daemon.restart()
  const { approvals } = await client.call('approval.list', { sessionId })
  assert.deepEqual(
    approvals.map((one) => [one.id, one.deferredUntil]),
    [[approvalId, until]],
  )
  assert.equal((await client.call('session.get', { sessionId })).status, 'waiting')
  const types = ['approval.deferred' as const]
  const { events } = await client.call('events.read', { sessionId, after: 0, types })
  assert.equal(events.length, 1, 'the same again is nothing new')
  assert.equal((await client.call('approval.defer', { approvalId, until: null })).deferredUntil, null)
  await client.call('approval.decide', { approvalId, behavior: 'allow' })
  const late = client.call('approval.defer', { approvalId, until })
  assert.equal((await refusal(late)).code, 'approval_resolved')
  const nobody = client.call('approval.defer', { approvalId: 'nobody', until })
  assert.equal((await refusal(nobody)).code, 'approval_not_found')
})

test('decisions are remembered: who, when, about what, and the rule that was made; the newest first', async () => {
  const once = await asking('[[shell make]]')
  await client.call('approval.decide', { approvalId: once.approvalId, behavior: 'deny', comment: 'no' })
  const session = await asking('[[shell make test]]')
  const forSession = { approvalId: session.approvalId, behavior: 'allow' as const, forSession: true }
  await client.call('approval.decide', { ...forSession, by: 'tester' })
  const directory = await asking('[[write notes.txt hello]]')
  const forDirectory = { approvalId: directory.approvalId, behavior: 'allow' as const, forDirectory: true }
  await client.call('approval.decide', forDirectory)
  const { decisions } = await client.call('approval.history', { limit: 3 })
  assert.deepEqual(
    decisions.map((one) => [one.id, one.decision!.behavior, one.decidedBy, one.asked, one.device]),
    [
      [directory.approvalId, 'allow', 'native', true, null],
      [session.approvalId, 'allow', 'tester', true, null],
      [once.approvalId, 'deny', 'native', true, null],
    ],
  )
  const { project } = daemon
  assert.deepEqual(
    decisions.map(({ rule }) => rule),
    [
      { scope: 'directory', path: project, text: [`Write(${project}/*)`] },
      { scope: 'session', path: project, text: ['Shell(make test)'] },
      null,
    ],
  )
  assert.deepEqual([decisions[0]!.agent, decisions[0]!.cwd, decisions[0]!.title], ['demo', project, null])
  await client.call('directory.configure', { path: project, rules: { allow: [] } })
})

test('the history goes on page by page, of one session too, and automatic answers are left out unless wanted', async () => {
  const { sessionId, approvalId } = await asking('[[shell one]]')
  await client.call('approval.decide', { approvalId, behavior: 'allow', forSession: true })
  const idle = async () => (await client.call('session.get', { sessionId })).turn === null
  await until(idle, 'the turn is over')
  await client.call('session.send', { sessionId, content: '[[shell one]]' })
  await until(async () => (await client.call('session.get', { sessionId })).turnCount === 2 && (await idle()))
  const humans = await client.call('approval.history', { sessionId })
  assert.deepEqual(
    humans.decisions.map(({ id, asked }) => [id, asked]),
    [[approvalId, true]],
  )
  const first = await client.call('approval.history', { sessionId, automatic: true, limit: 1 })
  assert.deepEqual([first.decisions[0]!.decidedBy, first.decisions[0]!.asked], ['rule', false])
  const cursor = first.next!
  const second = await client.call('approval.history', { sessionId, automatic: true, limit: 1, cursor })
  assert.deepEqual([second.decisions[0]!.id, second.next], [approvalId, null])
  const all: string[] = []
  for (let next: string | null = null; ;) {
    const page: Api['approval.history']['result'] = await client.call('approval.history', {
      limit: 2,
      ...(next !== null && { cursor: next }),
    })
    all.push(...page.decisions.map(({ id }) => id))
    if ((next = page.next) === null) break
  }
  assert.equal(new Set(all).size, all.length)
  assert.ok(all.includes(approvalId))
  assert.equal((await refusal(client.call('approval.history', { cursor: 'x' }))).code, 'invalid')
  const nowhere = client.call('approval.history', { sessionId: 'nowhere' })
  assert.equal((await refusal(nowhere)).code, 'session_not_found')
})

test('before deciding: what the agent said, what each answer would mean, and the edit as a diff', async () => {
  const said = Buffer.from('First I look.\n\nThen I change the greeting.').toString('base64')
  const input = { path: 'hello.txt', before: 'hi\nthere', after: 'hello\nthere' }
  const { approvalId } = await asking(`[[saycall ${said} Edit ${base64(input)}]]`)
  const { lines, subagent, effects, files } = await client.call('approval.context', { approvalId })
  assert.deepEqual([lines, subagent], [['First I look.', 'Then I change the greeting.'], null])
  const rules = [`Edit(${daemon.project}/*)`]
  assert.deepEqual(effects, { session: rules, directory: rules, path: daemon.project })
  assert.deepEqual(
    files!.map(({ path, status, additions, deletions }) => [path, status, additions, deletions]),
    [['hello.txt', 'modified', 1, 1]],
  )
  const nobody = client.call('approval.context', { approvalId: 'nobody' })
  assert.equal((await refusal(nobody)).code, 'approval_not_found')
})

test('a sub-agent that asks is named, with its own words', async () => {
  const words = Buffer.from('Inside I go').toString('base64')
  const inner = `[[saycall ${words} Shell ${base64({ command: 'make' })}]]`
  const { approvalId } = await asking(`[[call Task ${base64({ description: 'Build it', prompt: inner })}]]`)
  const first = await client.call('approval.context', { approvalId })
  assert.deepEqual([first.subagent, first.files], [null, null])
  const { sessionId } = await client.call('approval.decide', { approvalId, behavior: 'allow' })
  const { subagent, lines, effects } = await client.call('approval.context', {
    approvalId: await question(sessionId),
  })
  assert.equal(subagent?.title, 'Build it')
  assert.deepEqual(lines, ['Inside I go'])
  assert.deepEqual(effects.session, ['Shell(make)'])
})
