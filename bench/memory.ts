import { connect } from '../src/client/client.ts'
import { atMost, type Result } from './support/row.ts'
import { startBareHttp, startDaemon } from './support/server.ts'
import { pause } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const SESSIONS = 10_000
const AT_ONCE = 100
const REST_MS = 10_000

/** Resident memory: at rest, and what ten thousand sessions at rest add to it. */
export async function memory(shop: Workshop): Promise<Result[]> {
  const { home } = await shop.filled()
  const bare = await startBareHttp(shop)
  const full = await startDaemon(shop, { home })
  const daemon = await startDaemon(shop)
  await pause(REST_MS)
  const before = daemon.memory()
  const rows: Result[] = [
    { name: 'memory at rest: a bare Node HTTP server', value: bare.memory(), unit: 'MB' },
    {
      name: 'memory at rest: the daemon, 10 s after its start',
      value: before,
      unit: 'MB',
      ratio: before / bare.memory(),
      target: atMost(80),
    },
    {
      name: '… with 10,000 sessions and 1,000,000 events in the log',
      value: full.memory(),
      unit: 'MB',
      ratio: full.memory() / bare.memory(),
    },
  ]
  await full.stop()
  await createSessions(daemon.socket, daemon.project)
  await pause(REST_MS)
  const after = daemon.memory()
  rows.push({
    name: 'memory of a session at rest (10,000 made through the API)',
    value: ((after - before) * 1024) / SESSIONS,
    unit: 'KB',
    target: atMost(30),
    note: `${before.toFixed(1)} → ${after.toFixed(1)} MB`,
  })
  await daemon.stop()
  await bare.stop()
  return rows
}

async function createSessions(socket: string, cwd: string): Promise<void> {
  const client = await connect(socket)
  for (let made = 0; made < SESSIONS; made += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, () => client.call('session.create', { agent: 'demo', cwd }))
    await Promise.all(some)
  }
  client.close()
}
