import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Engine } from '../../../src/core/api.ts'
import { emptyConversation, step } from '../../../src/core/conversation/conversation.ts'
import { toWire } from '../../../src/dialects/humanlayer/events.ts'
import { createSlots, createLane } from '../../../src/dialects/humanlayer/lane.ts'
import { until } from '../../support/wait.ts'
import { serve, type Served } from './raw.ts'

const MB = 1024 ** 2
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A conversation of this size; nothing runs. */
async function conversationOf({ engine }: Served, bytes: number): Promise<string> {
  const { id } = await engine.engine.sessions.create({ agent: 'demo', cwd: engine.cwd })
  for (let size = 0; size < bytes; size += MB / 2) {
    await engine.turn(id, `${'x'.repeat(MB / 2)} [[say yes]]`)
  }
  return id
}

interface Counting {
  /** The ids of the answers, in the order they came; of the answers nothing else is kept. */
  ids: string[]
  bytes: number
  write(text: string): void
  read(): void
  hangUp(): void
}

/** The id stands at the end of its line. */
const TAIL = 40
const lastOf = (text: string): string => text.slice(-TAIL)

async function connectCounting(t: TestContext, path: string): Promise<Counting> {
  const socket = createConnection(path)
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  let tail = ''
  const client: Counting = {
    ids: [],
    bytes: 0,
    write: (text) => void socket.write(text),
    read: () =>
      void socket.on('data', (chunk: Buffer) => {
        client.bytes += chunk.length
        let from = 0
        for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
          tail = lastOf(tail + chunk.toString('latin1', Math.max(from, end - TAIL), end))
          client.ids.push(/"id":"?(\w+)"?\}$/.exec(tail)?.[1] ?? tail)
          tail = ''
          from = end + 1
        }
        tail = lastOf(tail + chunk.toString('latin1', Math.max(from, chunk.length - TAIL)))
      }),
    hangUp: () => void socket.destroy(),
  }
  return client
}

function rpc(id: number | string, method: string, params: unknown = {}): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}

test('many large answers at once cost little memory and hold up nobody, read or not', async (t) => {
  const served = await serve(t)
  const session_id = await conversationOf(served, 4 * MB)
  const wanted = Array.from({ length: 64 }, (_, id) => rpc(id, 'getConversation', { session_id })).join('')
  const reader = await connectCounting(t, served.path)
  const deaf = await connectCounting(t, served.path)
  const other = await served.connect()
  const before = process.memoryUsage.rss()
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5)
  t.after(() => clearInterval(watch))

  reader.read()
  for (const client of [deaf, reader]) client.write(wanted + rpc('pulse', 'health'))
  for (let i = 0; i < 10; i++) {
    other.ask(i, 'health')
    await other.next()
  }
  assert.ok(reader.ids.length < 60, 'another client did not have to wait for all of it')
  // One after the other: the time to wait is for the next one, not for all that a slow machine has to do.
  for (let n = 1; n <= 65; n++) await until(() => reader.ids.length >= n, `answer ${n} has come`)
  deaf.read()
  for (let n = 1; n <= 65; n++) await until(() => deaf.ids.length >= n, `answer ${n} has come late`)
  for (const { ids, bytes } of [reader, deaf]) {
    assert.ok(ids.indexOf('pulse') < 3, `health was number ${ids.indexOf('pulse')}`)
    assert.equal(new Set(ids).size, 65)
    assert.ok(bytes > 64 * 4 * MB)
  }
  const grown = Math.round((most - before) / MB)
  assert.ok(grown < 300, `${grown} MB more`)
})

test('requests that wait are bounded by their bytes too', async (t) => {
  const served = await serve(t, { lineLimit: 100_000 })
  const { engine, cwd } = served.engine
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
  const { id: approval_id } = await engine.approvals.ask({ sessionId, kind: 'tool', tool: 'Bash', input: {} })
  const client = await served.connect()
  const params = { approval_id, wait_ms: 25_000, more: 'x'.repeat(60_000) }
  for (let i = 0; i < 5; i++) client.ask(i, 'getApproval', params)
  client.ask('behind', 'health')
  const other = await served.connect()
  await until(() => served.subscribers() === 2, 'two wait')
  for (let i = 0; i < 5; i++) {
    other.ask(i, 'health')
    await other.next()
  }
  assert.equal(served.subscribers(), 2)
  await engine.approvals.decide({ approvalId: approval_id, decision: { behavior: 'allow' }, by: 'test' })
  for (let i = 0; i < 6; i++) await client.next()
})

test('two slots let two in at a time, and the others in the order they came', async () => {
  const slots = createSlots(2)
  const inside: string[] = []
  const ways: (() => void)[] = []
  const enter = (name: string): (() => void) =>
    slots.enter((leave) => {
      inside.push(name)
      ways.push(leave)
    })
  enter('a')
  enter('b')
  const giveUp = enter('c')
  enter('d')
  assert.deepEqual(inside, ['a', 'b'])
  giveUp()
  ways[0]!()
  await tick()
  assert.deepEqual(inside, ['a', 'b', 'd'])
  for (const leave of ways.splice(1)) leave()
  await tick()
  enter('e')
  enter('f')
  enter('g')
  assert.deepEqual(inside, ['a', 'b', 'd', 'e', 'f'])
})

test('a lane does one thing at a time, and the next only where there is room for it', () => {
  let room = true
  const begun: number[] = []
  const ends: (() => void)[] = []
  const lane = createLane(createSlots(2), () => room)
  for (const i of [0, 1, 2, 3]) {
    lane.add((done) => {
      begun.push(i)
      ends.push(done)
    })
  }
  assert.deepEqual(begun, [0])
  room = false
  ends[0]!()
  assert.deepEqual(begun, [0])
  room = true
  lane.drained()
  lane.drained()
  assert.deepEqual(begun, [0, 1])
  lane.close()
  ends[1]!()
  lane.drained()
  assert.deepEqual(begun, [0, 1])
})

test('a lane that waits for a place leaves it to others when it closes, or has no room then', async () => {
  const slots = createSlots(1)
  const begun: string[] = []
  let room = true
  const lanes = [createLane(slots, () => true), createLane(slots, () => room), createLane(slots, () => true)]
  let leave = (): void => {}
  slots.enter((out) => (leave = out))
  for (const [index, lane] of lanes.entries()) {
    lane.add((done) => {
      begun.push(`lane ${index}`)
      done()
    })
  }
  lanes[0]!.close()
  room = false
  leave()
  await tick()
  await tick()
  assert.deepEqual(begun, ['lane 2'])
  room = true
  await tick()
  lanes[1]!.drained()
  assert.deepEqual(begun, ['lane 2', 'lane 1'])
})

test('a client that hangs up is not worked for any more', async (t) => {
  let reads = 0
  const served = await serve(t)
  const session_id = await conversationOf(served, MB)
  const { log } = served.engine
  const { events } = log
  log.events = (query) => {
    if (query.types?.includes('agent.notice')) reads += 1
    return events(query)
  }
  const client = await connectCounting(t, served.path)
  client.write(Array.from({ length: 64 }, (_, id) => rpc(id, 'getConversation', { session_id })).join(''))
  await until(() => reads > 0, 'the first is under way')
  client.hangUp()
  await until(() => served.listener.connections === 0, 'the connection is gone')
  const other = await served.connect()
  other.ask(1, 'getConversation', { session_id })
  await other.next()
  assert.ok(reads <= 3, `${reads} conversations were read`)
})

test('lists of approvals stop where their inputs become too many, and say so', async (t) => {
  const served = await serve(t)
  const { engine, cwd } = served.engine
  const ids: string[] = []
  for (let i = 0; i < 19; i++) {
    // Each in a session of its own: a session is written with all of its open questions.
    const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
    const input = { content: 'x'.repeat(MB - 100) }
    ids.push((await engine.approvals.ask({ sessionId, kind: 'tool', tool: 'Write', input })).id)
  }
  const client = await served.connect()
  const listed = async (method: string): Promise<{ ids: string[]; more: unknown }> => {
    client.ask(1, method)
    const { result } = (await client.next()) as { result: { approvals: { id: string }[]; more?: true } }
    client.lines[client.lines.length - 1] = '' // the test itself keeps nothing
    return { ids: result.approvals.map(({ id }) => id), more: result.more }
  }
  assert.deepEqual(await listed('fetchApprovals'), { ids: ids.slice(2), more: true })
  assert.deepEqual(await listed('listApprovals'), { ids: ids.slice(2).reverse(), more: true })
  for (const approvalId of ids.slice(0, 2)) {
    await engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by: 'test' })
  }
  assert.deepEqual(await listed('fetchApprovals'), { ids: ids.slice(2), more: undefined })
})

test('how many are open is counted, not read', async (t) => {
  const served = await serve(t)
  const { engine, cwd } = served.engine
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
  for (let i = 0; i < 3; i++) await engine.approvals.ask({ sessionId, kind: 'tool', tool: 'Bash', input: {} })
  const unread = Object.create(engine, {
    approvals: { value: { ...engine.approvals, list: () => assert.fail('every open one was read') } },
  }) as Engine
  const [asked] = engine.events.read({ sessionId, after: 0, types: ['approval.requested'], limit: 1 })
  const [event] = toWire(unread, asked!, step(emptyConversation(), asked!.event))
  assert.equal((JSON.parse(event!.json) as { data: { total: number } }).data.total, 3)
})
