import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { startIssuer, type OAuthIssuer } from '../support/oauth-issuer.ts'
import { corral, hasScript, inTerminal } from './support.ts'

let issuer: OAuthIssuer
let daemon: TestDaemon
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

/** Everything that Corral has written down, but for the file that is meant for secrets. */
function written(): string {
  const files = ['corral.log', 'run.json', 'corral.db', 'corral.db-wal']
  const texts = files.map((name) => join(daemon.corralHome, name)).filter((path) => existsSync(path))
  return [...texts.map((path) => readFileSync(path, 'latin1')), daemon.output()].join('\n')
}

test('a key comes on stdin, is kept, shown nowhere, and forgotten again', async () => {
  const given = await corral(daemon.env, ['login', 'openrouter'], { input: 'sk-or-secret\n' })
  assert.equal(given.code, 0, given.stderr)
  assert.equal(given.stdout, 'the key of openrouter is kept in a file\n')
  const all = await corral(daemon.env, ['account', 'ls', '--json'])
  assert.deepEqual(all.json(), [{ name: 'openrouter', place: 'file' }])
  const agents = await corral(daemon.env, ['agent', 'show', 'opencode', '--json'])
  const gone = await corral(daemon.env, ['logout', 'openrouter'])
  assert.equal(gone.stdout, 'removed the key of openrouter\n')
  for (const text of [given.stderr, all.stdout, agents.stdout, gone.stdout, written()]) {
    assert.ok(!text.includes('sk-or-secret'))
  }
})

test('no key, a key as an argument and an unknown name are wrong usage', async () => {
  assert.equal((await corral(daemon.env, ['login', 'exa'])).code, 2)
  assert.equal((await corral(daemon.env, ['login', 'exa', 'sk-argument'])).code, 2)
  assert.equal((await corral(daemon.env, ['login', 'openai', '--browser', '--code'])).code, 2)
  const unknown = await corral(daemon.env, ['login', 'nobody'], { input: 'sk-stdin' })
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /accounts of openai, antigravity and keys of anthropic/)
  await assert.rejects(
    client.call('signin.setKey', { name: 'nobody' as 'exa', key: 'sk-wire' }),
    (error: Error) => !JSON.stringify([error.message, error]).includes('sk-wire'),
  )
})

test('a code to type, and then an account that Codex finds', async () => {
  issuer.deviceAnswers = ['authorization_pending']
  const done = await corral({ ...daemon.env, SSH_CONNECTION: '1' }, ['login', 'openai'])
  assert.equal(done.code, 0, done.stderr)
  assert.match(
    done.stdout,
    /code {2}ABCD-EFGH\nenter it at .*\/activate on any device\nsigned in as pat@example.com\n/,
  )
  assert.ok(existsSync(join(daemon.home, '.codex', 'auth.json')))
  const [account] = (await corral(daemon.env, ['account', 'ls', '--json'])).json()
  assert.equal(account?.['accountId'], 'account-1')
  assert.equal((await corral(daemon.env, ['logout', 'openai'])).stdout, 'removed the account of openai\n')
  assert.ok(!existsSync(join(daemon.home, '.codex', 'auth.json')))
  for (const secret of issuer.secrets) assert.ok(!`${done.stdout}${done.stderr}${written()}`.includes(secret))
})

test('over the wire: events by index, waiting for the next, cancelling', async () => {
  const { flowId, joined } = await client.call('signin.start', { provider: 'openai', mode: 'browser' })
  assert.equal(joined, false)
  const seen: string[] = []
  while (!seen.includes('url')) {
    const { events } = await client.call('signin.flow', { flowId, after: seen.length, waitMs: 5000 })
    seen.push(...events.map(({ type }) => type))
  }
  assert.deepEqual(seen, ['started', 'url'])
  assert.deepEqual((await client.call('signin.status')).flows, [{ flowId, provider: 'openai' }])
  const waiting = client.call('signin.flow', { flowId, after: 2, waitMs: 20_000 })
  assert.deepEqual(await client.call('signin.cancel', { flowId }), { cancelled: true })
  const { state, events } = await waiting
  assert.equal(state, 'failed')
  assert.deepEqual(
    events.map((event) => event.type === 'failed' && event.cancelled),
    [true],
  )
  assert.deepEqual(await client.call('signin.cancel', { flowId }), { cancelled: false })
  await assert.rejects(client.call('signin.flow', { flowId: 'nobody' }), { code: 'invalid' })
})

test('a device that was let in to use Corral may not sign in for its owner', async () => {
  const { pin } = await client.call('device.pin')
  const { token } = await client.call('device.pair', { pin, name: 'phone' })
  const phone = await connect(`${daemon.listeners['corral']!.replace('http', 'ws')}/native`, { token })
  try {
    const refused = { code: 'forbidden' }
    await assert.rejects(phone.call('signin.start', { provider: 'openai' }), refused)
    await assert.rejects(phone.call('signin.setKey', { name: 'exa', key: 'sk-phone' }), refused)
    await assert.rejects(phone.call('signin.forget', { name: 'exa' }), refused)
    assert.deepEqual(await phone.call('signin.status'), { accounts: [], keys: [], flows: [] })
  } finally {
    phone.close()
  }
})

test('an agent gets the key when its process starts, and not before', async () => {
  const bin = join(daemon.home, 'bin')
  mkdirSync(bin)
  const opencode = join(bin, 'opencode')
  const seen = join(daemon.home, 'seen')
  writeFileSync(
    opencode,
    `#!/bin/sh\n[ "$1" = --version ] && echo 1.2.3 && exit\necho "$OPENROUTER_API_KEY" >> ${seen}\n`,
  )
  chmodSync(opencode, 0o755)
  const other = await startDaemon({
    env: { CORRAL_OPENCODE_BIN: opencode, CORRAL_SIGNIN_KEYCHAIN: 'false' },
  })
  const its = await connect(other.socket)
  try {
    const start = async (): Promise<void> => {
      const { id: sessionId } = await its.call('session.create', { agent: 'opencode', cwd: other.project })
      const { seq, log } = await its.call('session.send', { sessionId, content: 'hello' })
      for await (const event of its.events({ after: seq - 1, log, sessionId })) {
        if (event.type === 'turn.failed') break
      }
    }
    await start()
    await its.call('signin.setKey', { name: 'openrouter', key: 'sk-or-given' })
    const agents = (await its.call('agents.list')).agents
    assert.equal(agents.find(({ name }) => name === 'opencode')?.signedIn, true)
    await start()
    const lines = readFileSync(seen, 'utf8').split('\n')
    assert.equal(lines[0], '')
    assert.ok(lines.includes('sk-or-given'))
  } finally {
    its.close()
    await other.stop()
  }
})

test('typed at a terminal a key is not shown', { skip: !hasScript }, async (t) => {
  const terminal = inTerminal(t, daemon.env, ['login', 'exa'])
  await terminal.expect('key of exa:')
  terminal.type('sk-typed\r')
  const shown = await terminal.expect('is kept in a file')
  assert.doesNotMatch(shown, /sk-typed/)
  assert.equal(await terminal.exited, 0)
  await client.call('signin.forget', { name: 'exa' })
})

test('Ctrl-C ends a sign-in', { skip: !hasScript }, async (t) => {
  const terminal = inTerminal(t, daemon.env, ['login', 'openai', '--browser'])
  await terminal.expect('/authorize?')
  terminal.type('\x03')
  await terminal.expect('not signed in: it was cancelled')
  assert.equal(await terminal.exited, 130)
  assert.deepEqual((await client.call('signin.status')).flows, [])
})
