import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve, type Served } from './raw.ts'

const HEALTH = { status: 'ok', version: '0.1.0' }

/** An approval that waits, and how to answer it. */
async function openApproval({ engine: { engine, cwd } }: Served) {
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
  const { id } = await engine.approvals.ask({ sessionId, kind: 'tool', tool: 'Bash', input: {} })
  return {
    id,
    allow: () => engine.approvals.decide({ approvalId: id, decision: { behavior: 'allow' }, by: 'test' }),
  }
}

test('an answer is one line with version, result and id', async (t) => {
  const client = await (await serve(t)).connect()
  client.ask(1, 'health')
  await client.next()
  assert.deepEqual(client.lines, ['{"jsonrpc":"2.0","result":{"status":"ok","version":"0.1.0"},"id":1}'])
})

test('whatever the id is, the answer has it', async (t) => {
  const client = await (await serve(t)).connect()
  for (const id of [0, 1.5, -7, 'seven', '', null, true, [1, 'a'], { a: { b: null } }]) {
    client.ask(id, 'health')
    assert.deepEqual(await client.next(), { jsonrpc: '2.0', result: HEALTH, id })
  }
})

test('a request without an id is answered, with the id null', async (t) => {
  const client = await (await serve(t)).connect()
  client.write('{"jsonrpc":"2.0","method":"health"}\n')
  assert.deepEqual(await client.next(), { jsonrpc: '2.0', result: HEALTH, id: null })
})

test('parameters that are null or absent are none', async (t) => {
  const client = await (await serve(t)).connect()
  for (const method of ['health', 'listSessions', 'fetchApprovals', 'getSessionLeaves', 'getRecentPaths']) {
    for (const params of [undefined, null, {}]) {
      client.ask(method, method, params)
      const { id, error } = await client.next()
      assert.deepEqual([id, error], [method, undefined])
    }
  }
  client.ask(1, 'launchSession', null)
  assert.equal(((await client.next())['error'] as { message: string }).message, 'query is required')
})

test('keys may be written in any case, names of methods may not', async (t) => {
  const served = await serve(t)
  const client = await served.connect()
  client.write('{"JSONRPC":"2.0","Method":"health","ID":7}\n')
  assert.deepEqual(await client.next(), { jsonrpc: '2.0', result: HEALTH, id: 7 })

  client.ask(1, 'getSessionState', { Session_ID: 'nobody' })
  assert.match(JSON.stringify(await client.next()), /session not found: nobody/)
  client.ask(2, 'getSessionState', { SESSION_ID: 'wrong', session_id: 'right' })
  assert.match(JSON.stringify(await client.next()), /session not found: right/)
  client.ask(3, 'Health')
  assert.deepEqual((await client.next())['error'], { code: -32601, message: 'Method not found: Health' })
})

test('lines end with LF or CRLF, empty ones are skipped, and pieces may be torn anywhere', async (t) => {
  const client = await (await serve(t)).connect()
  client.write('\n\r\n{"jsonrpc":"2.0","method":"health","id":1}\r\n\n')
  assert.equal((await client.next())['id'], 1)
  for (const byte of Buffer.from('{"jsonrpc":"2.0","method":"health","id":"é\u2028"}\n')) {
    client.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  assert.equal((await client.next())['id'], 'é\u2028')
  assert.equal(client.lines.length, 2)
})

test('a last line without LF is answered when the client has finished, then the connection closes', async (t) => {
  const served = await serve(t)
  const client = await served.connect()
  client.socket.end('{"jsonrpc":"2.0","method":"health","id":"last"}')
  assert.equal((await client.next())['id'], 'last')
  await client.ended
})

test('many requests in one write are all answered, each client hearing of its own only', async (t) => {
  const served = await serve(t)
  const clients = await Promise.all(Array.from({ length: 8 }, () => served.connect()))
  const wanted = clients.map((_, who) => Array.from({ length: 500 }, (_, i) => `${who}-${i}`))
  for (const [who, client] of clients.entries()) {
    client.write(wanted[who]!.map((id) => `{"jsonrpc":"2.0","method":"health","id":"${id}"}\n`).join(''))
  }
  for (const [who, client] of clients.entries()) {
    const got = []
    for (let i = 0; i < 500; i++) got.push((await client.next())['id'])
    assert.deepEqual(got, wanted[who])
  }
})

test('a slow request does not hold up the ones behind it', async (t) => {
  const served = await serve(t)
  const approval = await openApproval(served)
  const client = await served.connect()
  client.ask('slow', 'getApproval', { approval_id: approval.id, wait_ms: 25_000 })
  client.ask('quick', 'health')
  assert.equal((await client.next())['id'], 'quick')
  await approval.allow()
  const { id, result } = await client.next()
  assert.equal(id, 'slow')
  assert.equal((result as { approval: { status: string } }).approval.status, 'approved')
})

test('the requests of one connection that are under way are bounded, other connections go on', async (t) => {
  const served = await serve(t)
  const approval = await openApproval(served)
  const client = await served.connect()
  for (let i = 0; i < 300; i++) client.ask(i, 'getApproval', { approval_id: approval.id, wait_ms: 25_000 })
  client.ask('behind', 'health')
  const other = await served.connect()
  for (let i = 0; i < 5; i++) {
    other.ask(i, 'health')
    await other.next()
  }
  assert.deepEqual(client.lines, [])
  assert.ok(served.subscribers() <= 257, `${served.subscribers()} requests are under way`)
  await approval.allow()
  const ids = new Set<unknown>()
  while (ids.size < 301) ids.add((await client.next())['id'])
  assert.ok(ids.has('behind'))
})

test('what is under way when the client has finished sending is still answered', async (t) => {
  const served = await serve(t)
  const approval = await openApproval(served)
  const client = await served.connect()
  client.ask('slow', 'getApproval', { approval_id: approval.id, wait_ms: 25_000 })
  client.socket.end()
  const other = await served.connect()
  other.ask(1, 'health')
  await other.next()
  await approval.allow()
  assert.equal((await client.next())['id'], 'slow')
  await client.ended
})
