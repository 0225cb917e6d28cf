import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { corral } from '../../cli/support.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { demoSession } from '../native/support.ts'
import {
  allowed,
  decided,
  denied,
  mayRun,
  openQuestion,
  overStdio,
  say,
  someCommand,
  STANDALONE,
} from './support.ts'

let daemon: TestDaemon
let native: NativeClient

before(async () => {
  daemon = await startDaemon()
  native = await connect(daemon.socket)
})

after(async () => {
  native.close()
  await daemon.stop()
})

const directory = (): string => mkdtempSync(join(daemon.project, 'agent-'))

test('there are two tools, and what they want is described', async (t) => {
  const { client } = await overStdio(t, daemon)
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties!), inputSchema.required]),
    [
      ['request_permission', ['tool_name', 'input', 'tool_use_id'], ['tool_name', 'input']],
      ['contact_human', ['message', 'subject', 'options'], ['message']],
    ],
  )
  for (const { description } of tools) assert.ok(description!.length > 100)
  assert.equal(client.getServerVersion()!.name, 'corral')
})

for (const pin of [undefined, STANDALONE]) {
  test(`what a human allows is allowed, as it was or as edited (${pin ?? 'initialize'})`, async (t) => {
    const { client } = await overStdio(t, daemon, pin === undefined ? {} : { pin })
    const command = someCommand()
    const plain = mayRun(client, command)
    const { id: approvalId, kind, tool, external } = await openQuestion(native, command)
    assert.deepEqual([kind, tool, external], ['tool', 'Bash', true])
    await native.call('approval.decide', { approvalId, behavior: 'allow' })
    assert.deepEqual(await plain, allowed({ command }))

    const edited = mayRun(client, command)
    const second = await openQuestion(native, command)
    const input = { command: 'true', description: 'nothing' }
    await native.call('approval.decide', { approvalId: second.id, behavior: 'allow', input })
    assert.deepEqual(await edited, allowed(input))
  })
}

test('what a human denies is denied, with a comment or without', async (t) => {
  const { client } = await overStdio(t, daemon)
  const command = someCommand()
  for (const comment of ['not on a Friday', '']) {
    const answer = mayRun(client, command)
    const { id: approvalId } = await openQuestion(native, command)
    await native.call('approval.decide', { approvalId, behavior: 'deny', comment })
    assert.deepEqual(await answer, denied(comment || 'Request denied by human reviewer'))
  }
})

test('the tool call that it is about is noted', async (t) => {
  const { client } = await overStdio(t, daemon)
  const command = someCommand()
  const args = { tool_name: 'Write', input: { command }, tool_use_id: 'toolu_1' }
  const answer = say(client, 'request_permission', args)
  const { id: approvalId, callId } = await openQuestion(native, command)
  assert.equal(callId, 'toolu_1')
  await native.call('approval.decide', { approvalId, behavior: 'allow' })
  await answer
})

test('a human is asked in words and answers in words', async (t) => {
  const { client } = await overStdio(t, daemon)
  const message = `Which colour? ${someCommand()}`
  const answer = say(client, 'contact_human', { message, subject: 'Paint' })
  const { id: approvalId, kind, tool, input } = await openQuestion(native, message)
  assert.deepEqual([kind, tool], ['question', 'contact_human'])
  assert.deepEqual(input, { questions: [{ question: message, header: 'Paint', options: [] }] })
  await native.call('approval.decide', { approvalId, behavior: 'respond', text: 'Blue,\nlike the sky' })
  assert.deepEqual(await answer, { text: 'Blue,\nlike the sky', isError: false })
})

test('the command line shows the question and its choices, and answers it', async (t) => {
  const { client } = await overStdio(t, daemon)
  const message = `Tabs or spaces? ${someCommand()}`
  const answer = say(client, 'contact_human', { message, options: ['tabs', 'spaces'] })
  const { id } = await openQuestion(native, message)
  const { stdout } = await corral(daemon.env, ['approvals'])
  assert.ok(stdout.includes(`${message}\n    1) tabs\n    2) spaces`), stdout)
  const { code, stderr } = await corral(daemon.env, ['approve', id, '--answer', '2'])
  assert.equal(code, 0, stderr)
  assert.deepEqual(await answer, { text: 'spaces', isError: false })
})

test('a question that a human declines is an error with the reason', async (t) => {
  const { client } = await overStdio(t, daemon)
  const message = someCommand()
  const answer = say(client, 'contact_human', { message })
  const { id: approvalId } = await openQuestion(native, message)
  await native.call('approval.decide', { approvalId, behavior: 'deny', comment: 'ask your mother' })
  assert.deepEqual(await answer, { text: 'The human declined: ask your mother', isError: true })
})

test('a client has one session for each directory; a removed one is followed by another', async (t) => {
  const here = directory()
  const ask = async (cwd: string, name = 'painter') => {
    const { client } = await overStdio(t, daemon, { cwd, name })
    const command = someCommand()
    const answer = mayRun(client, command)
    const { id: approvalId, sessionId } = await openQuestion(native, command)
    await native.call('approval.decide', { approvalId, behavior: 'allow' })
    await answer
    return sessionId
  }
  const first = await ask(here)
  const session = await native.call('session.get', { sessionId: first })
  const { agent, cwd, title, mode, status } = session
  assert.deepEqual(
    { agent, cwd, title, mode, status },
    { agent: 'external', cwd: here, title: 'painter', mode: 'ask', status: 'idle' },
  )
  assert.equal(await ask(here), first)
  assert.notEqual(await ask(here, 'plumber'), first)
  assert.notEqual(await ask(directory()), first)
  await native.call('session.destroy', { sessionId: first })
  const next = await ask(here)
  assert.notEqual(next, first)
  assert.equal(await ask(here), next)
})

test('a session may be named by an option or by the environment, whole or in part', async (t) => {
  const { id } = await demoSession(native, daemon, 'ask')
  const other = await demoSession(native, daemon, 'ask')
  const setups = [
    { args: ['--session', id.slice(-8)], env: { CORRAL_SESSION_ID: other.id } },
    { env: { CORRAL_SESSION_ID: id, HUMANLAYER_SESSION_ID: other.id } },
    { env: { HUMANLAYER_SESSION_ID: id } },
  ]
  for (const setup of setups) {
    const { client } = await overStdio(t, daemon, setup)
    const command = someCommand()
    const answer = mayRun(client, command)
    const { id: approvalId, sessionId } = await openQuestion(native, command)
    assert.equal(sessionId, id)
    await native.call('approval.decide', { approvalId, behavior: 'allow' })
    await answer
  }
})

test('a session that there is not is told in plain words', async (t) => {
  const unknown = '01900000-0000-7000-8000-000000000000'
  const { client } = await overStdio(t, daemon, { args: ['--session', unknown] })
  for (const tool of ['request_permission', 'contact_human']) {
    const args = { tool_name: 'Bash', input: {}, message: 'hello' }
    const { text, isError } = await say(client, tool, args)
    assert.deepEqual(
      [isError, text],
      [true, `Corral has no session ${unknown}: it was removed, or the id is wrong`],
    )
  }
  const { client: other } = await overStdio(t, daemon, { args: ['--session', 'zzz'] })
  assert.match((await mayRun(other, 'ls')).text, /no session has zzz in its id or in its title/)
})

test('rules and mode answer at once; a question to a human is for a human in any mode', async (t) => {
  const { id: sessionId } = await demoSession(native, daemon, 'ask')
  const rules = { allow: ['Bash(git *)'], deny: ['Bash(git push*)'], acceptEdits: true }
  await native.call('session.configure', { sessionId, rules })
  const { client } = await overStdio(t, daemon, { args: ['--session', sessionId] })
  assert.deepEqual(await mayRun(client, 'git status'), allowed({ command: 'git status' }))
  assert.match((await mayRun(client, 'git push')).text, /"deny".*rule Bash\(git push\*\)/)
  const edit = { file_path: '/tmp/x', content: 'x' }
  assert.deepEqual(
    await say(client, 'request_permission', { tool_name: 'Write', input: edit }),
    allowed(edit),
  )

  await native.call('session.configure', { sessionId, mode: 'auto' })
  assert.deepEqual(await mayRun(client, 'make'), allowed({ command: 'make' }))
  const message = someCommand()
  const questions = [{ question: message, options: [{ label: 'Yes' }] }]
  const args = { tool_name: 'AskUserQuestion', input: { questions } }
  const answer = say(client, 'request_permission', args)
  const { id: approvalId, kind } = await openQuestion(native, message)
  assert.equal(kind, 'question')
  const answers = { [message]: 'Yes' }
  await native.call('approval.decide', { approvalId, behavior: 'allow', answers })
  assert.deepEqual(await answer, allowed({ questions, answers }))
})

test('arguments that are wrong are refused and nobody is asked', async (t) => {
  const { id: sessionId } = await demoSession(native, daemon, 'ask')
  const { client } = await overStdio(t, daemon, { args: ['--session', sessionId] })
  for (const [tool, args] of [
    ['request_permission', { tool_name: '', input: {} }],
    ['request_permission', { tool_name: 'Bash' }],
    ['request_permission', { tool_name: 'Bash', input: 'ls' }],
    ['contact_human', { message: '' }],
    ['contact_human', { message: 'x', options: 'y' }],
  ] as const) {
    assert.equal((await say(client, tool, args)).isError, true, JSON.stringify(args))
  }
  assert.deepEqual((await native.call('approval.list', { sessionId, open: false })).approvals, [])
})

test('a call that the client cancels is taken back', async (t) => {
  const { client } = await overStdio(t, daemon)
  const command = someCommand()
  const giving = new AbortController()
  const answer = mayRun(client, command, { signal: giving.signal })
  const { id } = await openQuestion(native, command)
  giving.abort()
  await assert.rejects(answer)
  const { decision, decidedBy } = await decided(native, id)
  assert.deepEqual([decision!.behavior, decidedBy], ['cancelled', 'mcp'])
  await assert.rejects(native.call('approval.decide', { approvalId: id, behavior: 'allow' }))
  assert.equal((await client.listTools()).tools.length, 2, 'the server goes on')
})

test('a question whose session is removed meanwhile is refused', async (t) => {
  const { id: sessionId } = await demoSession(native, daemon, 'ask')
  const { client } = await overStdio(t, daemon, { args: ['--session', sessionId] })
  const command = someCommand()
  const answers = [mayRun(client, command), say(client, 'contact_human', { message: `${command} too` })]
  await openQuestion(native, `${command} too`)
  await native.call('session.destroy', { sessionId })
  const [permission, contact] = await Promise.all(answers)
  assert.match(permission!.text, /^{"behavior":"deny","message":"Nobody decides about this any more/)
  assert.match(contact!.text, /^Nobody will answer this any more/)
  assert.equal(contact!.isError, true)
})

test('clients ask at the same time, each several questions, and each gets its own answers', async (t) => {
  const clients = await Promise.all(['one', 'two'].map((name) => overStdio(t, daemon, { name })))
  const asked = clients.flatMap(({ client }) =>
    [1, 2, 3].map(() => {
      const command = someCommand()
      return { command, answer: mayRun(client, command) }
    }),
  )
  for (const { command } of asked.toReversed()) {
    const { id: approvalId } = await openQuestion(native, command)
    await native.call('approval.decide', { approvalId, behavior: 'deny', comment: `not ${command}` })
  }
  for (const { command, answer } of asked) assert.deepEqual(await answer, denied(`not ${command}`))
})
