import { connect } from '../src/client/client.ts'
import { rpc } from './support/codecast.ts'
import { atMost, type Result } from './support/row.ts'
import { startDaemon } from './support/server.ts'
import { median, spread, timed } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

/** Lists out of ten thousand sessions. */
export async function sessions(shop: Workshop): Promise<Result[]> {
  const { home, sessionIds } = await shop.filled()
  const daemon = await startDaemon(shop, { home })
  const client = await connect(daemon.socket)
  await timed(5, () => client.call('session.list', { limit: 50 }))
  const page = await timed(200, () => client.call('session.list', { limit: 50 }))
  const wanted = sessionIds.length
  const whole = await timed(5, async () => {
    const { sessions: all } = await rpc<{ sessions: unknown[] }>(daemon.port, 'session.list')
    if (all.length !== wanted) throw new Error(`${all.length} sessions instead of ${wanted}`)
  })
  client.close()
  await daemon.stop()
  return [
    {
      name: 'first page (50) of 10,000 sessions, over the native socket',
      value: median(page),
      unit: 'ms',
      target: atMost(3),
      note: spread(page),
    },
    {
      name: 'all 10,000 sessions at once, over HTTP (Codecast has no pages)',
      value: median(whole),
      unit: 'ms',
      note: spread(whole),
    },
  ]
}
