import { connect } from '../src/client/client.ts'
import { newSession, request } from './support/codecast.ts'
import { count } from './support/count.ts'
import type { Counted } from './support/counter.ts'
import type { Result, Row } from './support/row.ts'
import { type BenchDaemon, startDaemon } from './support/server.ts'
import { brief } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const READERS = 100
const EVENTS = 10_000
const MESSAGE = `[[burst ${EVENTS} 20]]`

/** A hundred readers of one session that streams. */
export async function fanout(shop: Workshop): Promise<Result[]> {
  const daemon = await startDaemon(shop)
  const rows = [
    row(`deliveries to ${READERS} native subscribers of one session`, await native(shop, daemon)),
    row(`deliveries to ${READERS} SSE clients of one turn`, await sse(shop, daemon)),
  ]
  await daemon.stop()
  return rows
}

function row(name: string, { marks, firstMs, lastMs }: Counted): Row {
  const missed = READERS * EVENTS - marks
  const behind = missed > 0 ? `; ${brief(missed)} came only with the whole message` : ''
  const note = `${brief(marks)} of ${EVENTS} events × ${READERS}${behind}`
  return { name, value: (marks / (lastMs - firstMs)) * 1000, unit: '/s', note }
}

async function native(shop: Workshop, { socket, project }: BenchDaemon): Promise<Counted> {
  const client = await connect(socket)
  const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: project })
  const subscribe = { jsonrpc: '2.0', id: 1, method: 'events.subscribe', params: { sessionId } }
  const job = {
    to: { path: socket },
    connections: READERS,
    request: `${JSON.stringify(subscribe)}\n`,
    mark: '"type":"message.delta"',
    last: '"type":"turn.completed"',
  }
  const counted = await count(shop, job, () => {
    void client.call('session.send', { sessionId, content: MESSAGE })
  })
  client.close()
  return counted
}

/** The same key is the same message: every stream tells the same turn. */
async function sse(shop: Workshop, { port, project }: BenchDaemon): Promise<Counted> {
  const sessionId = await newSession(port, project, 'demo')
  return count(shop, {
    to: { port, host: '127.0.0.1' },
    connections: READERS,
    request: request('session.send', { sessionId, message: MESSAGE, key: 'one' }),
    mark: 'data: {"type":"partial"',
    last: 'data: [DONE]',
  })
}
