import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { tokenAccess } from '../../src/access/first-message.ts'
import { openSecret } from '../../src/access/secret.ts'
import type { WebSocketOptions } from '../../src/transports/websocket.ts'
import { echo, knock, listen, open, type Client } from '../transports/websocket-support.ts'
import { until } from '../support/wait.ts'

const CODE = -32004

async function guarded(t: TestContext, options: Partial<WebSocketOptions> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'corral-first-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'token')
  const secret = openSecret({ path })
  let accepted = 0
  const access = tokenAccess({
    secret,
    code: CODE,
    accept(connection) {
      accepted += 1
      return echo(connection)
    },
  })
  const rig = await listen(t, { ...access, ...options })
  return { ...rig, path, token: readFileSync(path, 'utf8'), accepted: () => accepted }
}

const auth = (token: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'daemon.auth', params: { token } })

/** What a client is told that says this first, and how it ends. */
async function first(client: Client, message: string) {
  client.ws.send(message)
  const code = await client.closed
  return { code, answers: client.messages.map((text) => JSON.parse(text) as Record<string, unknown>) }
}

test('the token in the header opens the door, a wrong one does not', async (t) => {
  const { url, token, accepted } = await guarded(t)
  const client = await open(t, url, { headers: { authorization: `Bearer ${token}` } })
  client.ws.send('hello')
  assert.deepEqual(await client.got(1), ['hello'])
  assert.equal(await knock(url, { authorization: 'Bearer wrong' }), 401)
  assert.equal(await knock(url, { authorization: `Basic ${token}` }), 401)
  assert.equal(accepted(), 1)
})

test('the token in the first message does too, and what follows is answered after it', async (t) => {
  const { url, token } = await guarded(t)
  const client = await open(t, url)
  client.ws.send(auth(token, 'a'))
  client.ws.send('hello')
  const answer = '{"jsonrpc":"2.0","id":"a","result":{"authenticated":true}}'
  assert.deepEqual(await client.got(2), [answer, 'hello'])
})

const refused: [what: string, message: string, code: number, id: unknown][] = [
  ['a wrong token', auth('0'.repeat(32), 7), CODE, 7],
  ['no token', '{"jsonrpc":"2.0","id":"x","method":"daemon.auth"}', CODE, 'x'],
  ['a token that is no text', auth({ toString: 'x' }), CODE, 1],
  ['another method', '{"jsonrpc":"2.0","id":2,"method":"session.list","params":{}}', CODE, 2],
  ['a batch', `[${auth('x')}]`, CODE, null],
  ['nonsense', 'let me in', -32700, null],
  ['no object', '42', -32700, null],
]

for (const [what, message, code, id] of refused) {
  test(`${what} first is answered with ${code}, and the connection ends`, async (t) => {
    const { url, accepted } = await guarded(t)
    const { code: closed, answers } = await first(await open(t, url), message)
    assert.equal(closed, 1008)
    assert.equal(answers.length, 1)
    assert.equal((answers[0]!['error'] as { code: number }).code, code)
    assert.equal(answers[0]!['id'], id)
    assert.equal(accepted(), 0)
  })
}

test('what follows a refusal in the same breath is not heard', async (t) => {
  const { url, token, accepted } = await guarded(t)
  const client = await open(t, url)
  for (const message of [auth('wrong'), auth(token), 'hello']) client.ws.send(message)
  assert.equal(await client.closed, 1008)
  assert.equal(client.messages.length, 1)
  assert.equal(accepted(), 0)
})

test('a thousand wrong tokens come to nothing, and the right one still works', async (t) => {
  const { url, token, accepted, sockets } = await guarded(t)
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const wrong = `${round}${index}`.padStart(32, '0')
        if (index % 2 === 0) return assert.equal(await knock(url, { authorization: `Bearer ${wrong}` }), 401)
        const { code, answers } = await first(await open(t, url), auth(wrong))
        assert.equal(code, 1008)
        assert.equal((answers[0]!['error'] as { code: number }).code, CODE)
      }),
    )
  }
  assert.equal(accepted(), 0)
  await until(() => sockets.connections === 0, 'all are gone')
  assert.equal(await knock(url, { authorization: `Bearer ${token}` }), 0)
})

test('silence ends with 4408, and pings do not help', async (t) => {
  const { url } = await guarded(t, { admitMs: 100 })
  const client = await open(t, url)
  client.ws.ping()
  assert.equal(await client.closed, 4408)
})

test('a changed token holds for the next connection', async (t) => {
  const { url, path, token } = await guarded(t)
  writeFileSync(path, 'another')
  assert.equal(await knock(url, { authorization: `Bearer ${token}` }), 401)
  assert.equal(await knock(url, { authorization: 'Bearer another' }), 0)
})
