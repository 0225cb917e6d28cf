import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { untilDecided } from '../../../src/core/wait.ts'
import { askHuman, tracked } from '../../../src/dialects/mcp/asking.ts'
import { createEndpoint, type Endpoint } from '../../../src/dialects/mcp/endpoint.ts'
import { createServer } from '../../../src/dialects/mcp/server.ts'
import { McpSessions } from '../../../src/dialects/mcp/sessions.ts'
import { startEngine, type TestEngine } from '../../support/engine.ts'
import { until } from '../../support/wait.ts'

let t: TestEngine

before(async () => {
  t = await startEngine()
})
after(() => t.stop())

/** Asks in a session of its own, on the real engine. */
function asker() {
  const { engine, cwd } = t
  let last = 0
  return tracked((question, { client, signal }) =>
    askHuman(
      {
        newId: () => `question-${client}-${++last}`,
        create: (session) => engine.sessions.create(session),
        // As over a connection: it is on its way for a while.
        async request(asked) {
          for (let turn = 0; turn < 5; turn++) await immediate()
          return (await engine.approvals.ask(asked)).decision
        },
        // Short, so that waiting goes on more than once.
        wait: async (id) => (await untilDecided(engine, id, { timeoutMs: 15, signal })).decision,
        withdraw: async (id) => void (await engine.approvals.withdraw(id, 'test')),
      },
      { client, cwd },
      question,
      signal,
    ),
  )
}

const open = () => t.engine.approvals.list({ open: true, limit: 10 })

test('a client that wants to know hears that the wait goes on, until it is over', async (context) => {
  const server = createServer({ asker: asker(), version: '1', progressMs: 20 })
  const client = new Client({ name: 'patient', version: '1' })
  context.after(() => client.close())
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server.connect(there)
  await client.connect(here)
  const heard: (string | undefined)[] = []
  const answer = client.callTool(
    { name: 'contact_human', arguments: { message: 'Are you there?' } },
    {
      timeout: 500,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress, message }) => void heard.push(`${progress} ${message}`),
    },
  )
  await until(() => heard.length >= 40, 'progress beyond the timeout')
  assert.deepEqual(heard.slice(0, 2), ['1 Waiting for a human', '2 Waiting for a human'])
  const [question] = open()
  await t.engine.approvals.decide({
    approvalId: question!.id,
    decision: { behavior: 'respond', text: 'Yes' },
    by: 'me',
  })
  assert.deepEqual((await answer).content, [{ type: 'text', text: 'Yes' }])
})

test('a call that is cancelled while it is being asked leaves no question behind', async () => {
  const asking = asker()
  for (let turns = 0; turns < 20; turns++) {
    const giving = new AbortController()
    const caller = { client: 'hasty', signal: giving.signal, request: undefined }
    const asked = asking.ask({ kind: 'tool', tool: 'Bash', input: {} }, caller)
    for (let turn = 0; turn < turns; turn++) await immediate()
    giving.abort()
    await assert.rejects(asked)
    await asking.settled()
    assert.deepEqual(open(), [])
  }
})

const LIMITED = { sessions: 3, idleMs: 60_000 }

type Handling = Pick<Endpoint, 'handle'>

function post(endpoint: Handling, body: object, id: string | null = null) {
  const over = new AbortController()
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(id !== null && { 'mcp-session-id': id }),
  }
  const request = new Request('http://localhost/mcp', { method: 'POST', headers })
  return { over, response: endpoint.handle(request, body, over.signal) }
}

/** Says hello; the id of the session, or the status of the refusal. */
async function hello(endpoint: Handling): Promise<string | number> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const { over, response } = post(endpoint, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
  const { headers, status, body } = await response
  await body?.cancel()
  over.abort()
  return headers.get('mcp-session-id') ?? status
}

async function isKnown(endpoint: Handling, id: string | number): Promise<boolean> {
  const { over, response } = post(endpoint, { jsonrpc: '2.0', id: 2, method: 'ping' }, String(id))
  const { status, body } = await response
  await body?.cancel()
  over.abort()
  return status === 200
}

test('the number of clients is bounded: the one that was idle longest makes room, a busy one does not', async (context) => {
  const asking = asker()
  const endpoint = createEndpoint({ asker: asking, version: '1', limits: LIMITED })
  context.after(() => endpoint.close())
  const pause = async () => {
    for (const now = Date.now(); Date.now() === now;) await immediate()
  }
  const ids: (string | number)[] = []
  for (let count = 0; count < 3; count++) {
    ids.push(await hello(endpoint))
    await pause()
  }
  assert.equal(await isKnown(endpoint, ids[0]!), true)
  await pause()
  const fourth = await hello(endpoint)
  assert.deepEqual(
    [await isKnown(endpoint, ids[0]!), await isKnown(endpoint, ids[1]!), await isKnown(endpoint, ids[2]!)],
    [true, false, true],
  )
  const params = { name: 'contact_human', arguments: { message: 'busy' } }
  const calls = [ids[0]!, ids[2]!, fourth].map((id, index) =>
    post(endpoint, { jsonrpc: '2.0', id: 10 + index, method: 'tools/call', params }, String(id)),
  )
  await until(() => open().length === 3, 'three questions')
  assert.equal(await hello(endpoint), 503)
  for (const { over, response } of calls) {
    await (await response).body?.cancel()
    over.abort()
  }
  assert.equal(typeof (await hello(endpoint)), 'string')
  await endpoint.close()
  await asking.settled()
  assert.deepEqual(open(), [])
})

test('a client that is not heard of is forgotten, one that waits is not', async (context) => {
  const asking = asker()
  const closed = new Set<number>()
  let made = 0
  const makeServer = () => {
    const server = createServer({ asker: asking, version: '1' })
    const number = ++made
    Object.assign(server.server, { onclose: () => closed.add(number) })
    return server
  }
  const sessions = new McpSessions(makeServer, { sessions: 3, idleMs: 1000 })
  context.after(() => sessions.close())
  const busy = await hello(sessions)
  const params = { name: 'contact_human', arguments: { message: 'still there' } }
  const { over } = post(sessions, { jsonrpc: '2.0', id: 3, method: 'tools/call', params }, String(busy))
  const idle = await hello(sessions)
  await until(() => closed.has(2), 'the end of the idle one')
  assert.deepEqual([...closed], [2])
  assert.deepEqual([await isKnown(sessions, idle), await isKnown(sessions, busy)], [false, true])
  over.abort()
  await until(() => closed.has(1), 'the end of the other')
  await asking.settled()
  assert.deepEqual(open(), [])
})
