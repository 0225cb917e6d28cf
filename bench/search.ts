import { LoggedEvent } from '../src/core/event.ts'
import { search as find } from '../src/core/search/search.ts'
import { openForBench } from './support/fill.ts'
import { atMost, type Result } from './support/row.ts'
import { brief, median, spread, timed } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const ROUNDS = 50

/** Words among a million events, a fifth of which are messages with the same words in them: the worst there is. */
export async function search(shop: Workshop): Promise<Result[]> {
  const { db, sessionIds } = await shop.filled()
  const log = openForBench(db)
  const sessionId = sessionIds[0]!
  const seq = log.head + 1
  const message = {
    type: 'message.completed',
    messageId: 'm',
    kind: 'text',
    parent: null,
    aborted: false,
  } as const
  const event = LoggedEvent.of({
    seq,
    at: Date.now(),
    sessionId,
    turnId: null,
    ...message,
    text: 'a rareWord',
  })
  await log.append({ events: [event], writes: [] })
  const queries: [string, { text: string; sessionId?: string }][] = [
    [`one message among ${brief(seq)} events, by a word`, { text: 'rare ' }],
    ['… by words that nearly all of them have', { text: 'quick fox ' }],
    ['… by such words in a row', { text: '"quick brown fox"' }],
    ['… by the beginning of such a word', { text: 'qui' }],
    ['… by such a word, in one session', { text: 'quick ', sessionId }],
  ]
  const rows: Result[] = []
  for (const [name, query] of queries) {
    const times = await timed(ROUNDS, () => find(log, { ...query, limit: 20 }))
    rows.push({ name, value: median(times), unit: 'ms', target: atMost(50), note: spread(times) })
  }
  await log.close(true)
  return rows
}
