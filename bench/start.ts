import { createConnection } from 'node:net'
import { once } from 'node:events'
import { atMost, type Result, type Row } from './support/row.ts'
import { type BenchDaemon, startBareHttp, startDaemon } from './support/server.ts'
import { median, spread } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const ROUNDS = 11

/** From the start of the process to the line that it prints when all of its listeners are open. */
export async function start(shop: Workshop): Promise<Result[]> {
  const { home: full } = await shop.filled()
  const empty = shop.directory()
  const first = await readyOnce(shop, shop.directory())
  const times = { bare: [] as number[], empty: [] as number[], full: [] as number[] }
  await readyOnce(shop, empty)
  await readyOnce(shop, full)
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await startBareHttp(shop)
    times.bare.push(bare.readyMs)
    await bare.stop()
    times.empty.push(await readyOnce(shop, empty))
    times.full.push(await readyOnce(shop, full))
  }
  const row = (name: string, values: number[]): Row => ({
    name,
    value: median(values),
    unit: 'ms',
    ratio: median(values) / median(times.bare),
    target: atMost(2, 'ratio'),
    note: spread(values),
  })
  return [
    {
      name: 'ready: a bare Node HTTP server',
      value: median(times.bare),
      unit: 'ms',
      note: spread(times.bare),
    },
    row('ready: the daemon, empty log', times.empty),
    row('ready: the daemon, 10,000 sessions and 1,000,000 events in the log', times.full),
    {
      name: 'ready: the very first start, nothing compiled or made yet',
      value: first,
      unit: 'ms',
      ratio: first / median(times.bare),
      note: 'n 1',
    },
  ]
}

async function readyOnce(shop: Workshop, home: string): Promise<number> {
  const daemon = await startDaemon(shop, { home })
  await answersEverywhere(daemon)
  await daemon.stop()
  return daemon.readyMs
}

/** It says that it listens: it does. */
async function answersEverywhere({ port, socket }: BenchDaemon): Promise<void> {
  for (const to of [{ port, host: '127.0.0.1' }, { path: socket }]) {
    const connection = createConnection(to)
    await once(connection, 'connect')
    connection.destroy()
  }
}
