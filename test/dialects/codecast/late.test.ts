import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CodecastDialect, codecastDialect } from '../../../src/dialects/codecast/open.ts'
import { readCodecastSettings } from '../../../src/dialects/codecast/settings.ts'
import { createHttpApp } from '../../../src/transports/http.ts'
import { startEngine, type TestEngine } from '../../support/engine.ts'
import { askUntil } from '../../support/wait.ts'
import { create, type Json, result, send, type Stream, type StreamEvent, types, whole } from './client.ts'

const silent = { info: () => undefined, warn: () => undefined }
const app = createHttpApp()
let parts: TestEngine
let dialect: CodecastDialect
let base = ''

before(async () => {
  parts = await startEngine()
  dialect = codecastDialect(parts.engine, {
    settings: await readCodecastSettings({ CORRAL_CODECAST_PORT: '0' }, parts.home),
    home: parts.home,
    log: silent,
    corralVersion: '0',
  })
  dialect.routes(app)
  base = (await dialect.start(app)).url
})
after(async () => {
  await dialect.stop()
  await app.close(0)
  await parts.stop()
})

async function reconnect(sessionId: string, after?: number): Promise<StreamEvent[]> {
  const params = after === undefined ? { sessionId } : { sessionId, after }
  return (await result<{ bufferedEvents: StreamEvent[] }>(base, 'session.reconnect', params)).bufferedEvents
}

/** How many events a reconnect would return now. */
async function pending(sessionId: string): Promise<unknown> {
  return (await result(base, 'session.queue_stats', { sessionId }))['responsePending']
}

/** Without the words that are told only while a question waits, and what frames a stream. */
function lasting(events: readonly StreamEvent[]): StreamEvent[] {
  return whole(events).filter((event) => event['code'] !== 'approval_waiting' && event.type !== '[DONE]')
}

function subtypes(events: readonly StreamEvent[]): unknown[] {
  return events.filter(({ type }) => type === 'system').map((event) => event['subtype'])
}

/** All of a stream, with the `seq` of each event; what has none is part of the next that has one. */
async function readWithIds(stream: Stream): Promise<{ event: StreamEvent; id: number | null }[]> {
  const all: { event: StreamEvent; id: number | null }[] = []
  for (let event = await stream.next(); event; event = await stream.next()) {
    all.push({ event, id: null })
    const id = stream.ids.at(-1)
    if (id === undefined || all.some((one) => one.id === id)) continue
    for (const one of all) one.id ??= id
  }
  return all
}

async function answer(sessionId: string, after = 0): Promise<number> {
  const { approval, seq } = await parts.event('approval.requested', { sessionId, after })
  await parts.engine.approvals.decide({ approvalId: approval.id, decision: { behavior: 'allow' }, by: 'me' })
  return seq
}

for (const mode of ['ask', 'auto']) {
  test(`in ${mode}, a stream up to any event and what reconnect returns after it are the whole turn`, async () => {
    const sessionId = await create(base, parts.cwd, { mode })
    const stream = await send(base, sessionId, '[[think hm]] [[shell [[shell two]]]]', { ids: true })
    const reading = readWithIds(stream)
    if (mode === 'ask') await answer(sessionId, await answer(sessionId))
    const live = await reading
    const told = lasting(live.map(({ event }) => event))
    const approvals = subtypes(told).filter((subtype) => String(subtype).startsWith('approval_'))
    assert.equal(approvals.length, mode === 'ask' ? 4 : 0, 'a human is asked, or nobody is')
    for (const { seq, type } of parts.engine.events.read({ sessionId, after: 0, limit: 1000 })) {
      const seen = live.filter(({ id }) => id !== null && id <= seq).map(({ event }) => event)
      const all = [...lasting(seen), ...lasting(await reconnect(sessionId, seq))]
      assert.deepEqual(all, told, `cut after ${seq} ${type}`)
    }
  })
}

test('what a human has answered is told to who comes back, and counted before', async () => {
  const sessionId = await create(base, parts.cwd, { mode: 'ask' })
  const stream = await send(base, sessionId, '[[shell one]]')
  await stream.until('error')
  stream.cut()
  await askUntil(
    () => result(base, 'session.queue_stats', { sessionId }),
    (stats) => stats['clientConnected'] === false,
  )
  await answer(sessionId)
  await parts.event('turn.completed', { sessionId })
  const counted = await pending(sessionId)
  const events = await reconnect(sessionId)
  assert.deepEqual(subtypes(events), ['init', 'approval_requested', 'approval_resolved'])
  assert.equal(counted, events.length)
  assert.equal(await pending(sessionId), 0)
})

test('responsePending is what reconnect returns, while a turn runs and when it is over, whatever happened in it', async () => {
  const sessionId = await create(base, parts.cwd, { mode: 'ask' })
  const stream = await send(base, sessionId, '[[think hm]] [[shell [[shell two]]]]')
  await stream.until('error')
  stream.cut()
  await askUntil(
    () => result(base, 'session.queue_stats', { sessionId }),
    (stats) => stats['clientConnected'] === false,
  )
  const counted = await pending(sessionId)
  const { queue } = (
    await result<{ sessions: (Json & { queue: Json })[] }>(base, 'monitor.sessions')
  ).sessions.find((session) => session['sessionId'] === sessionId)!
  const events = await reconnect(sessionId)
  assert.ok(types(events).includes('error'), 'it waits')
  assert.deepEqual([counted, queue['responsePending']], [events.length, events.length])
  await result(base, 'session.interrupt', { sessionId })
  await parts.event('turn.interrupted', { sessionId })
  const rest = await pending(sessionId)
  assert.equal(rest, (await reconnect(sessionId)).length)
})
