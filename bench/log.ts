import { connect } from '../src/client/client.ts'
import { uuid } from '../src/core/ids.ts'
import { type Event, LoggedEvent } from '../src/core/event.ts'
import type { Log } from '../src/core/ports.ts'
import { openForBench } from './support/fill.ts'
import { atMost, type Result, type Row } from './support/row.ts'
import { startDaemon } from './support/server.ts'
import { brief, median, spread, timed } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const READS = 500
const LIMIT = 100
const DELTAS = 50_000

/** The last hundred events of a session among a million, of a different session each time. */
export async function log(shop: Workshop): Promise<Result[]> {
  const { db, home, sessionIds } = await shop.filled()
  const some = (round: number): string => sessionIds[(round * 7919) % sessionIds.length]!
  const rows: Result[] = []
  const row = (name: string, times: number[]): Row => ({
    name,
    value: median(times),
    unit: 'ms',
    target: atMost(5),
    note: spread(times),
  })

  const opened = openForBench(db)
  const before = opened.head + 1
  const read = (round: number) => opened.events({ before, sessionId: some(round), limit: LIMIT })
  rows.push(
    row(`last ${LIMIT} of a session among ${brief(before)} events, in the log`, await timed(READS, read)),
  )
  const { drop } = await streamElsewhere(opened, sessionIds[0]!)
  const during = await timed(50, (round) =>
    opened.events({ before: opened.head + 1, sessionId: some(round + 1), limit: LIMIT }),
  )
  rows.push({ ...row(`… while another session has ${brief(DELTAS)} deltas under way`, during) })
  await drop()
  await opened.close(true)

  const daemon = await startDaemon(shop, { home })
  const client = await connect(daemon.socket)
  const events = await timed(READS, (round) =>
    client.call('events.read', { before, sessionId: some(round), limit: LIMIT }),
  )
  rows.push(row('… over the native socket: events.read', events))
  const history = await timed(READS, (round) =>
    client.call('history.read', { sessionId: some(round), limit: LIMIT }),
  )
  rows.push(row('… over the native socket: history.read', history))
  client.close()
  await daemon.stop()
  return rows
}

/** What a long answer that is not complete yet leaves in the log. */
async function streamElsewhere(log: Log, sessionId: string): Promise<{ drop(): Promise<void> }> {
  const messageId = uuid()
  const from = log.head + 1
  const events = Array.from({ length: DELTAS }, (_, i) => {
    const delta = {
      type: 'message.delta',
      messageId,
      kind: 'text',
      text: 'a piece of text',
      parent: null,
    } as const
    return LoggedEvent.of({ seq: from + i, at: Date.now(), sessionId, turnId: null, ...delta } as Event)
  })
  await log.append({ events, writes: [] })
  return {
    drop: () => log.append({ events: [], writes: [{ op: 'deltas.drop', sessionId, messageId, from }] }),
  }
}
