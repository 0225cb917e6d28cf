import { newSession, request } from './support/codecast.ts'
import { count } from './support/count.ts'
import { atLeast, type Result } from './support/row.ts'
import { startDaemon } from './support/server.ts'
import { brief, median } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const EVENTS = 100_000
const ROUNDS = 5

/** Demo agent → durable log → one reader of server-sent events. */
export async function throughput(shop: Workshop): Promise<Result[]> {
  const daemon = await startDaemon(shop)
  const sessionId = await newSession(daemon.port, daemon.project, 'demo')
  const read = (events: number) =>
    count(shop, {
      to: { port: daemon.port, host: '127.0.0.1' },
      connections: 1,
      request: request('session.send', { sessionId, message: `[[burst ${events} 20]]` }),
      mark: 'data: {"type":"partial"',
      last: 'data: [DONE]',
    })
  await read(1000)
  const rates: number[] = []
  const whole: number[] = []
  let missed = 0
  for (let round = 0; round < ROUNDS; round++) {
    const { marks, lastMs, doneMs } = await read(EVENTS)
    rates.push((marks / lastMs) * 1000)
    whole.push((marks / doneMs) * 1000)
    missed += EVENTS - marks
  }
  await daemon.stop()
  const seen =
    missed === 0 ? 'every event seen' : `${missed} of ${ROUNDS * EVENTS} came only with the whole message`
  return [
    {
      name: 'demo agent → log → SSE client, message sent → last delta',
      value: median(rates),
      unit: '/s',
      target: atLeast(30_000),
      note: `${rates.map(brief).join(', ')}; ${seen}`,
    },
    {
      name: '… message sent → end of the stream, the whole message included',
      value: median(whole),
      unit: '/s',
      note: 'aim: 50,000',
    },
  ]
}
