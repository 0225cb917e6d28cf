import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { serve, SHARED, type Json, type Served } from './raw.ts'
import { until } from '../../support/wait.ts'

const PARSE_ERROR = { code: -32700, message: 'Parse error' }
const invalid = (problem: string): Json => ({ code: -32600, message: `Invalid request: ${problem}` })
const VERSION_ERROR = invalid('must be JSON-RPC 2.0')
const HEALTH = '{"jsonrpc":"2.0","method":"health","id":"still here"}'

test('what is not a request is refused with its code, and the connection goes on', async (t) => {
  const client = await (await serve(t)).connect()
  const deep = 100_000
  const cases: [line: string | Buffer, error: Json, id: unknown][] = [
    ['{', PARSE_ERROR, null],
    ['hello', PARSE_ERROR, null],
    ['5', invalid('must be an object'), null],
    ['"text"', invalid('must be an object'), null],
    [`[${HEALTH}]`, invalid('must be an object'), null],
    ['[]', invalid('must be an object'), null],
    [`${HEALTH} and more`, PARSE_ERROR, null],
    [`${HEALTH}${HEALTH}`, PARSE_ERROR, null],
    ['{"jsonrpc":"2.0","method":5,"id":1}', invalid('must name a method'), 1],
    ['{"jsonrpc":"2.0","method":["health"],"id":1}', invalid('must name a method'), 1],
    [Buffer.from('7b226964223a22ff227d', 'hex'), PARSE_ERROR, null],
    [Buffer.from([0, 1, 2, 0xfe, 0xff]), PARSE_ERROR, null],
    ['['.repeat(deep), PARSE_ERROR, null],
    [`{"jsonrpc":"2.0","method":"health","id":${'['.repeat(deep)}${']'.repeat(deep)}}`, PARSE_ERROR, null],
    ['{}', VERSION_ERROR, null],
    ['null', VERSION_ERROR, null],
    ['{"method":"health","id":1}', VERSION_ERROR, 1],
    ['{"jsonrpc":"1.0","method":"health","id":"a"}', VERSION_ERROR, 'a'],
    ['{"jsonrpc":2.0,"method":"health","id":[1]}', VERSION_ERROR, [1]],
    ['{"jsonrpc":null,"method":"health","id":2}', VERSION_ERROR, 2],
    ['{"jsonrpc":"2.0","id":3}', invalid('must name a method'), 3],
    ['{"jsonrpc":"2.0","method":null,"id":4}', invalid('must name a method'), 4],
    ['{"jsonrpc":"2.0","method":"","id":4}', { code: -32601, message: 'Method not found: ' }, 4],
    ['{"jsonrpc":"2.0","method":"nope"}', { code: -32601, message: 'Method not found: nope' }, null],
    [
      '{"jsonrpc":"2.0","method":"toString","id":5}',
      { code: -32601, message: 'Method not found: toString' },
      5,
    ],
  ]
  for (const [line, error, id] of cases) {
    client.write(Buffer.concat([Buffer.from(line), Buffer.of(10)]))
    assert.deepEqual(await client.next(), { jsonrpc: '2.0', error, id }, String(line).slice(0, 80))
    client.write(`${HEALTH}\n`)
    assert.equal((await client.next())['id'], 'still here')
  }
})

test('parameters of the wrong type are refused, naming the field', async (t) => {
  const client = await (await serve(t)).connect()
  const cases: [method: string, params: unknown, field: string][] = [
    ['launchSession', { query: 5 }, 'query'],
    ['launchSession', { query: 'q', max_turns: '5' }, 'max_turns'],
    ['launchSession', { query: 'q', max_turns: 1.5 }, 'max_turns'],
    ['launchSession', { query: 'q', verbose: 'yes' }, 'verbose'],
    ['launchSession', { query: 'q', allowed_tools: 'Bash' }, 'allowed_tools'],
    ['launchSession', { query: 'q', disallowed_tools: ['a', 5] }, 'disallowed_tools.1'],
    ['launchSession', { query: 'q', mcp_config: 7 }, 'mcp_config'],
    ['launchSession', ['query'], ''],
    ['launchSession', 'query', ''],
    ['continueSession', { session_id: {}, query: 'q' }, 'session_id'],
    ['getConversation', { session_id: 1 }, 'session_id'],
    ['getSessionState', [], ''],
    ['fetchApprovals', { session_id: true }, 'session_id'],
    ['sendDecision', { call_id: 1, type: 'function_call', decision: 'approve' }, 'call_id'],
    ['sendDecision', { call_id: 'x', decision: 'approve', updated_input: 'ls' }, 'updated_input'],
    ['sendDecision', { call_id: 'x', decision: 'approve', updated_input: [{}] }, 'updated_input'],
    ['createApproval', { run_id: [], tool_name: 'x', tool_input: {} }, 'run_id'],
    ['bulkArchiveSessions', { session_ids: 'all', archived: true }, 'session_ids'],
  ]
  for (const [index, [method, params, field]] of cases.entries()) {
    client.ask(index, method, params)
    const { id, error } = (await client.next()) as {
      id: number
      error: { code: number; message: string; data: Json }
    }
    assert.deepEqual([id, error.code], [index, -32602], error.message)
    assert.ok(error.message.startsWith(`invalid request: ${field === '' ? '' : `${field}: `}`), error.message)
    assert.deepEqual(error.data, { code: 'invalid_params', field })
  }
})

test('a name that goes on and on is not thrown back', async (t) => {
  const client = await (await serve(t)).connect()
  client.ask(1, 'x'.repeat(1_000_000))
  await client.next()
  assert.ok(client.lines[0]!.length < 1000)
})

test('Subscribe with wrong parameters is refused, what is under way is answered, then the connection closes', async (t) => {
  const served = await serve(t)
  const { engine, cwd } = served.engine
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd })
  const { id: approvalId } = await engine.approvals.ask({
    sessionId,
    kind: 'question',
    tool: 'Ask',
    input: {},
  })
  for (const params of [{ event_types: 'all' }, { since: -1 }, { since: 1.5 }, { session_id: 5 }, [], 'x']) {
    const client = await served.connect()
    client.ask('slow', 'getApproval', { approval_id: approvalId, wait_ms: 20 })
    client.ask(1, 'Subscribe', params)
    client.ask('late', 'health')
    const { id, error } = (await client.next()) as { id: null; error: { code: number; message: string } }
    assert.deepEqual([id, error.code], [null, -32602])
    assert.match(error.message, /^invalid request: /)
    assert.equal((await client.next())['id'], 'slow')
    await client.ended
    assert.equal(client.lines.length, 2)
  }
  assert.equal(served.subscribers(), 0)
})

/** A request of exactly this many bytes, without its LF. */
function requestOf(bytes: number): string {
  const frame = '{"jsonrpc":"2.0","method":"health","id":"still here","params":{"p":""}}'
  return frame.replace('""}}', `"${'x'.repeat(bytes - frame.length)}"}}`)
}

test('a line within the limit, LF and all, is read; one byte more is refused and the connection closes', async (t) => {
  const served = await serve(t, { lineLimit: 4096 })
  const other = await served.connect()
  const client = await served.connect()
  client.write(`${requestOf(4095)}\n`)
  assert.equal((await client.next())['id'], 'still here')
  for (const line of [`${requestOf(4096)}\n`, requestOf(100_000), `${requestOf(100_000)}\n${HEALTH}\n`]) {
    const big = await served.connect()
    big.write(line)
    const { id, error } = (await big.next()) as { id: null; error: { code: number; message: string } }
    assert.deepEqual([id, error.code], [null, -32600])
    assert.match(error.message, /4096 bytes/)
    await big.ended
    assert.equal(big.lines.length, 1)
  }
  other.write(`${HEALTH}\n`)
  assert.equal((await other.next())['id'], 'still here')
})

test('10 MiB is the limit unless told otherwise, and is neither slow nor dear', async (t) => {
  const client = await (await serve(t)).connect()
  client.write(`${requestOf(10 * 1024 ** 2 - 1)}\n`)
  assert.equal((await client.next())['id'], 'still here')
  client.write(`${requestOf(10 * 1024 ** 2)}\n`)
  assert.equal(((await client.next())['error'] as Json)['code'], -32600)
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is in use, after everything that is not has been thrown away; the bytes of buffers may be given back a while later. */
function used(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const descriptors = (): number => readdirSync('/proc/self/fd').length

/** Ways to come and go. */
const MANNERS = [
  '',
  '{"jsonrpc":"2.0","meth',
  `${HEALTH}\n`,
  '{"method":"Subscribe"}\n',
  '{"method":"Subscribe","params":{"session_id":"nobody","since":0}}\n',
  '{"method":"Subscribe","params":{"since":"wrong"}}\n',
  '{"jsonrpc":"2.0","method":"listSessions","id":1}\n'.repeat(20),
]

async function comeAndGo({ path }: Served, times: number): Promise<void> {
  const visit = async (round: number): Promise<void> => {
    const socket = createConnection(path)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(MANNERS[round % MANNERS.length]!)
    // Some hang up at once, some wait for whatever comes first, some only stop sending.
    if (round % 3 === 0 && round % MANNERS.length > 1) await once(socket, 'data')
    if (round % 5 === 0) socket.end()
    else socket.destroy()
    if (!socket.destroyed) socket.resume()
    if (!socket.closed) await once(socket, 'close')
  }
  for (let done = 0; done < times; done += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => visit(done + i)))
  }
}

test('a thousand connects and disconnects leave nothing behind', async (t) => {
  const served = await serve(t)
  await comeAndGo(served, 500)
  const gone = () => until(() => served.listener.connections === 0, 'all connections are gone')
  await gone()
  const before = { memory: used(), descriptors: descriptors() }
  await comeAndGo(served, 1000)
  await gone()
  assert.equal(served.subscribers(), 0)
  assert.ok(descriptors() <= before.descriptors, `${descriptors()} descriptors, ${before.descriptors} before`)
  const grown = (): number => used() - before.memory
  await until(
    () => grown() < 3 * 1024 ** 2,
    () => `nothing is left; there are ${grown()} bytes more`,
  )
})

test('clients that never read cost little and hold up nobody', async (t) => {
  const served = await serve(t)
  const { engine, cwd } = served.engine
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd })
  const reader = await served.connect()
  reader.ask(1, 'Subscribe')
  await reader.next()
  const deaf = await Promise.all(Array.from({ length: 10 }, () => served.connect()))
  for (const client of deaf) {
    client.socket.pause()
    client.ask(1, 'Subscribe')
  }
  await until(() => served.subscribers() === 11 + SHARED, 'all are subscribed')
  const before = used()
  const text = 'x'.repeat(100_000)
  for (let i = 0; i < 300; i++) {
    await engine.sessions.configure({ sessionId, title: `${i} ${text}` })
    const { result } = await reader.next()
    assert.match(JSON.stringify(result), new RegExp(`"title":"${i} x`))
    reader.lines[i + 1] = '' // the test itself keeps nothing
  }
  const each = (): number => Math.round((used() - before) / deaf.length)
  await until(
    () => each() < 1024 ** 2,
    () => `little is held; there are ${each()} bytes for each that does not read`,
  )
})

test('questions of a client that does not read the answers wait, and are answered when it does', async (t) => {
  const served = await serve(t)
  const { engine, cwd } = served.engine
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
  await engine.approvals.ask({
    sessionId,
    kind: 'tool',
    tool: 'Write',
    input: { content: 'x'.repeat(300_000) },
  })
  const client = await served.connect()
  client.socket.pause()
  const before = used()
  const count = 200
  client.write(`${'{"jsonrpc":"2.0","method":"fetchApprovals","id":1}\n'.repeat(count)}${HEALTH}\n`)
  const other = await served.connect()
  for (let i = 0; i < 20; i++) {
    other.write(`${HEALTH}\n`)
    await other.next()
  }
  // All the answers together have nearly two hundred megabytes.
  const grown = (): number => used() - before
  await until(
    () => grown() < 80 * 1024 ** 2,
    () => `they are not held; there are ${grown()} bytes more`,
  )
  client.socket.resume()
  const ids = []
  for (let i = 0; i <= count; i++) {
    ids.push((await client.next())['id'])
    client.lines[i] = ''
  }
  assert.equal(ids.filter((id) => id === 1).length, count)
  assert.ok(ids.includes('still here'))
})
