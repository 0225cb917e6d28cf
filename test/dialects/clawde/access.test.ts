import assert from 'node:assert/strict'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { test, type TestContext } from 'node:test'
import { dial, rigFor, type Client } from './support.ts'

test('the token opens the door: 32 hex digits in a file of its owner', async (t) => {
  const rig = await rigFor(t)
  assert.match(readFileSync(rig.tokenFile, 'utf8'), /^[0-9a-f]{32}$/)
  assert.equal(statSync(rig.tokenFile).mode & 0o777, 0o600)
  const client = await rig.stranger()
  assert.deepEqual(await client.call('daemon.auth', { token: rig.token }), { authenticated: true })
  assert.deepEqual(await client.call('daemon.ping'), { pong: true, version: '9.9.9' })
  assert.deepEqual(await client.call('daemon.auth', { token: rig.token }), { authenticated: true })
  const bearer = await rig.stranger({ authorization: `Bearer ${rig.token}` })
  assert.deepEqual(await bearer.call('daemon.ping'), { pong: true, version: '9.9.9' })
})

test('a token in the file that is another one now holds at once, and who came with the old one has to go', async (t) => {
  const rig = await rigFor(t)
  const owner = await rig.client()
  const bearer = await rig.stranger({ authorization: `Bearer ${rig.token}` })
  await bearer.call('daemon.ping')
  const phone = await rig.stranger()
  const { pin } = await owner.call('daemon.pairPin')
  await phone.call('daemon.auth', { token: (await phone.call('device.pair', { pin }))['deviceToken'] })
  writeFileSync(rig.tokenFile, 'f'.repeat(32))
  const client = await rig.stranger()
  assert.deepEqual(await client.call('daemon.auth', { token: 'f'.repeat(32) }), { authenticated: true })
  assert.equal(await owner.closed, 1008)
  assert.equal(await bearer.closed, 1008)

  await client.call('daemon.ping')
  writeFileSync(`${rig.tokenFile}.other`, 'e'.repeat(32))
  renameSync(`${rig.tokenFile}.other`, rig.tokenFile)
  assert.equal(await client.closed, 1008)
  await phone.call('daemon.ping')
})

const refused: [what: string, text: string, code: number, id: unknown][] = [
  ['another method', '{"jsonrpc":"2.0","id":"x","method":"daemon.ping"}', -32004, 'x'],
  ['a wrong token', '{"jsonrpc":"2.0","id":7,"method":"daemon.auth","params":{"token":"no"}}', -32004, 7],
  ['no token', '{"jsonrpc":"2.0","id":7,"method":"daemon.auth"}', -32004, 7],
  ['no JSON', '{"jsonrpc"', -32700, null],
]

for (const [what, text, code, id] of refused) {
  test(`${what} first: ${code}, and the connection closes with 1008`, async (t) => {
    const client = await (await rigFor(t)).stranger()
    client.ws.send(text)
    assert.equal(await client.closed, 1008)
    const [answer] = client.frames as { id: unknown; error: { code: number } }[]
    assert.equal(answer?.error.code, code)
    assert.equal(answer?.id, id)
  })
}

test('nobody is greeted: the first frame is the answer, the next one the next answer', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  await client.call('daemon.status')
  assert.deepEqual(
    client.frames.map((frame) => 'result' in frame),
    [true, true],
  )
})

const malformed: [what: string, text: string, code: number, id: unknown][] = [
  ['no JSON', '{', -32700, null],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}]', -32600, null],
  ['no version', '{"id":3,"method":"daemon.ping"}', -32600, 3],
  ['another version', '{"jsonrpc":"1.0","id":3,"method":"daemon.ping"}', -32600, 3],
  ['no method', '{"jsonrpc":"2.0","id":"a"}', -32600, 'a'],
  ['an unknown method', '{"jsonrpc":"2.0","id":"a","method":"no.such"}', -32601, 'a'],
  ['a missing parameter', '{"jsonrpc":"2.0","id":"a","method":"session.get","params":{}}', -32602, 'a'],
  ['parameters in a list', '{"jsonrpc":"2.0","id":"a","method":"session.get","params":["x"]}', -32602, 'a'],
]

for (const [what, text, code, id] of malformed) {
  test(`${what}: ${code}, and the connection stays`, async (t) => {
    const client = await (await rigFor(t)).client()
    client.ws.send(text)
    await client.until(() => client.frames.length === 2)
    const answer = client.frames[1] as { id: unknown; error: { code: number } }
    assert.equal(answer.error.code, code)
    assert.equal(answer.id, id)
    await client.call('daemon.ping')
  })
}

test('a notification is not answered, a string id comes back', async (t) => {
  const client = await (await rigFor(t)).client()
  client.ws.send('{"jsonrpc":"2.0","method":"daemon.ping"}')
  client.ws.send('{"jsonrpc":"2.0","id":"ünï","method":"daemon.ping"}')
  await client.until(() => client.frames.length === 2)
  assert.equal(client.frames[1]!['id'], 'ünï')
})

test('a binary frame ends the connection with 1003, a large text does not', async (t) => {
  const rig = await rigFor(t)
  const [client, other] = [await rig.client(), await rig.client()]
  const content = 'x'.repeat(3_900_000)
  assert.equal((await other.refusal('session.sendMessage', { sessionId: 'none', content })).code, -32001)
  client.ws.send(Buffer.from([1, 2, 3]))
  assert.equal(await client.closed, 1003)
  const large = await rig.client()
  large.ws.send('x'.repeat(17 * 1024 ** 2))
  assert.equal(await large.closed, 1009)
  await other.call('daemon.ping')
})

test('requests beyond the limit are refused with their id, and when to come again', async (t) => {
  const rig = await rigFor(t, { limits: { requestsPerSecond: 20 } })
  const client = await rig.client()
  const calls = Array.from({ length: 50 }, () => client.call('daemon.ping').catch((error: Error) => error))
  const failures = (await Promise.all(calls)).filter((one) => one instanceof Error) as (Error & {
    code: number
    data: { retryAfterMs: number }
  })[]
  // More than twenty get through when they take longer than a second.
  assert.ok(failures.length > 0 && failures.length <= 30, `${failures.length} were refused`)
  for (const { code, data } of failures) {
    assert.equal(code, -32029)
    assert.ok(data.retryAfterMs > 0 && data.retryAfterMs <= 1000)
  }
  const other = await rig.client()
  await other.call('daemon.ping')
  await new Promise((resolve) => setTimeout(resolve, failures[0]!.data.retryAfterMs + 50))
  await client.call('daemon.ping')
})

test('connections beyond the limit get 429; this machine is exempt unless told otherwise', async (t) => {
  const strict = await rigFor(t, { limits: { connectionsPerMinute: 3, limitLoopback: true } })
  for (let n = 0; n < 3; n++) await strict.stranger()
  await assert.rejects(strict.stranger(), /HTTP 429/)
  const health = await fetch(`http://127.0.0.1:${strict.port}/health`)
  assert.equal(health.status, 429)
  assert.ok(Number(health.headers.get('retry-after')) > 0)
  const kind = await rigFor(t, { limits: { connectionsPerMinute: 3 } })
  for (let n = 0; n < 10; n++) await kind.stranger()
})

test('a web page of another origin, or by another name, is refused', async (t) => {
  const rig = await rigFor(t)
  await assert.rejects(rig.stranger({ origin: 'https://evil.example' }), /HTTP 403/)
  await assert.rejects(rig.stranger({ host: 'evil.example' }), /HTTP 403/)
  await rig.stranger({ origin: 'http://localhost:5173' })
})

async function plain(t: TestContext, port: number, request: string): Promise<string> {
  const socket = createConnection(port, '127.0.0.1')
  t.after(() => socket.destroy())
  let text = ''
  socket.write(request)
  for await (const chunk of socket) text += String(chunk)
  return text
}

test('GET /health with HTTP 1.0 and 1.1, without a word about the token', async (t) => {
  const rig = await rigFor(t)
  const old = await plain(t, rig.port, 'GET /health HTTP/1.0\r\n\r\n')
  assert.match(old, /^HTTP\/1\.[01] 200/)
  const answer = await fetch(`http://127.0.0.1:${rig.port}/health`)
  assert.match(answer.headers.get('content-type') ?? '', /application\/json/)
  const health = (await answer.json()) as Record<string, unknown>
  const { status, version, uptime, activeSessions, port } = health
  assert.deepEqual(
    { status, version, activeSessions, port },
    { status: 'ok', version: '9.9.9', activeSessions: 0, port: rig.port },
  )
  assert.equal(typeof uptime, 'number')
  assert.ok(
    !JSON.stringify(health).includes(rig.token) && !/auth_token|data_dir/.test(JSON.stringify(health)),
  )
})

test('GET /metrics counts', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  await rig.session(client)
  const text = await (await fetch(`http://127.0.0.1:${rig.port}/metrics`)).text()
  assert.match(text, /^clawd_sessions_created_total 1$/m)
  assert.match(text, /^clawd_rpc_requests_total [1-9]/m)
  assert.match(text, /^# TYPE clawd_uptime_seconds gauge$/m)
})

test('a stop closes connections with 1001', async (t) => {
  const rig = await rigFor(t)
  const client: Client = await dial(t, rig.url)
  await client.call('daemon.auth', { token: rig.token })
  t.after(async () => assert.equal(await client.closed, 1001))
})
