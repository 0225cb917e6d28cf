import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { isRule } from '../../src/core/pattern.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { startIssuer, type OAuthIssuer } from '../support/oauth-issuer.ts'
import { MAIN } from '../support/program.ts'
import { exitOf, until } from '../support/wait.ts'
import { corral, newSession, type Outcome } from './support.ts'

let daemon: TestDaemon
let issuer: OAuthIssuer
let client: NativeClient

before(async () => {
  issuer = await startIssuer()
  daemon = await startDaemon({
    env: {
      CORRAL_SIGNIN_OPENAI_ISSUER: issuer.url,
      CORRAL_SIGNIN_OPENAI_CLIENT_ID: issuer.clientId,
      CORRAL_SIGNIN_OPENAI_PORT: '0',
      CORRAL_SIGNIN_KEYCHAIN: 'false',
    },
  })
  client = await connect(daemon.socket)
})

after(async () => {
  client.close()
  await daemon.stop()
  await issuer.close()
})

const run = (...args: string[]): Promise<Outcome> => corral(daemon.env, args)

test('an empty message is wrong usage and leaves no session behind', async () => {
  const id = await newSession(daemon)
  const count = async (): Promise<number> => (await run('ls', '--json')).json().length
  const there = await count()
  for (const args of [
    ['new', ''],
    ['new', ' ', ''],
    ['send', id, ''],
    ['steer', id, ' '],
  ]) {
    const { code, stderr } = await run(...args)
    assert.deepEqual([code, stderr], [2, 'corral: the message is empty\n'], args.join(' '))
  }
  assert.equal(await count(), there)
})

test('what is empty is said in plain words, and nothing is changed', async () => {
  const id = await newSession(daemon)
  assert.equal((await run('project', 'add', 'barn')).code, 0)
  for (const [args, words] of [
    [['project', 'add', ''], 'the name of the project is empty'],
    [['project', 'rename', 'barn', ' '], 'the name of the project is empty'],
    [['rule', 'add', '--session', id, ''], 'the rule is empty; write one as in shell(npm test*)'],
    [
      ['rule', 'add', '--directory', '.', '--deny', ' '],
      'the rule is empty; write one as in shell(npm test*)',
    ],
  ] as const) {
    const { code, stderr } = await run(...args)
    assert.deepEqual([code, stderr], [2, `corral: ${words}\n`], args.join(' '))
  }
})

test('a title without a word gives back the name that the session has of itself', async () => {
  const id = await newSession(daemon)
  await run('send', id, 'the name of itself')
  const name = async () => (await client.call('session.get', { sessionId: id })).name
  for (const blank of ['', '  ']) {
    await run('session', 'rename', id, 'of mine')
    assert.equal(await name(), 'of mine')
    assert.equal((await run('session', 'rename', id, blank)).code, 0)
    assert.equal(await name(), 'the name of itself')
  }
  const made = await run('new', '--agent', 'demo', '--no-wait', '--title', '  ', 'how it began')
  const view = await client.call('session.get', { sessionId: made.stdout.trim() })
  assert.equal(view.name, 'how it began')
})

test('no sessions were asked for: nothing is said about how many there are', async () => {
  await newSession(daemon)
  const { code, stdout, stderr } = await run('ls', '--limit', '0')
  assert.deepEqual([code, stdout, stderr], [0, '', ''])
})

test('a second project of one name is refused; of those that others have made, ids are listed', async () => {
  assert.equal((await run('project', 'add', 'shop')).code, 0)
  const again = await run('project', 'add', 'shop')
  assert.equal(again.code, 1)
  assert.match(again.stderr, /there is a project shop already \([0-9a-f]{8}\)/)
  await run('project', 'add', 'mail')
  assert.match((await run('project', 'rename', 'mail', 'shop')).stderr, /there is a project shop already/)
  assert.equal((await run('project', 'rename', 'shop', 'shop')).code, 0, 'its own name is no other')
  const twin = await client.call('project.create', { name: 'shop' })
  const several = await run('project', 'show', 'shop')
  assert.match(several.stderr, /2 projects are called shop; give the id of one:\n {2}[0-9a-f]{8}/)
  assert.equal((await run('project', 'rm', twin.id.slice(-8))).code, 0)
  assert.equal((await run('project', 'show', 'shop')).code, 0)
})

test('what is no rule is refused, and one that is there already can go', async () => {
  assert.deepEqual(['Bash(', 'shell)', '()', '(x)', 'Bash(a', ''].map(isRule), [
    false,
    false,
    false,
    false,
    false,
    false,
  ])
  assert.ok(['edit', 'mcp__a__*', 'shell(echo (x))', 'shell()'].every(isRule))
  const id = await newSession(daemon)
  for (const args of [
    ['rules', id, '--allow', 'Bash('],
    ['rule', 'add', '--session', id, '--deny', 'Bash('],
    ['rule', 'add', '--directory', daemon.project, 'Bash('],
  ]) {
    const { code, stderr } = await run(...args)
    assert.equal(code, 1, args.join(' '))
    assert.match(stderr, /Bash\( is not a rule: write a tool or a class/)
  }
  assert.match((await run('rule', 'ls', '--session', id)).stdout, /no rules/)
})

/** Whether somebody listens there. Only asked: who tries to take the port may take it from the login. */
function isTaken(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  const answer = once(socket, 'connect').then(
    () => true,
    () => false,
  )
  return answer.finally(() => socket.destroy())
}

test('a login that is killed gives its port back', async (t) => {
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const login = spawn(process.execPath, [MAIN, 'login', 'openai', '--browser'], { env: daemon.env })
    t.after(() => login.kill('SIGKILL'))
    let said = ''
    for (const output of [login.stdout, login.stderr])
      output.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [, found] = await until(
      () => /redirect_uri=http%3A%2F%2F\w+%3A(\d+)%2F/.exec(said),
      () => `an address for the browser: ${said}`,
    )
    const port = Number(found)
    assert.equal(await isTaken(port), true, 'it listens for the browser')
    login.kill(signal)
    await exitOf(login, 'the login ends')
    await until(async () => !(await isTaken(port)), `${signal}: nobody listens there any more`)
  }
})

test('who leaves in the middle of a line leaves a line behind', async (t) => {
  const id = await newSession(daemon)
  const args = [MAIN, 'send', id, '[[drip 1000 50]]']
  const sending = spawn(process.execPath, args, { env: daemon.env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => sending.kill('SIGKILL'))
  let printed = ''
  sending.stdout.on('data', (data: Buffer) => (printed += data.toString()))
  await until(() => printed.split('\n').at(-1) !== '', 'a line is being written')
  sending.kill('SIGINT')
  assert.equal(await exitOf(sending, 'it ends'), 130)
  assert.ok(printed.endsWith('\n'), JSON.stringify(printed.slice(-20)))
  await run('interrupt', id)
})
