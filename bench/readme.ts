import { latency } from './latency.ts'
import { memory } from './memory.ts'
import type { Result } from './support/row.ts'
import type { Workshop } from './support/workshop.ts'
import { sessions } from './sessions.ts'
import { start } from './start.ts'
import { throughput } from './throughput.ts'

const MEASURED = [start, memory, latency, throughput, sessions]

/** The rows that the README has, in its order. */
const ROWS = [
  'ready: the daemon, 10,000 sessions and 1,000,000 events in the log',
  'memory at rest: the daemon, 10 s after its start',
  '… added by the daemon',
  'demo agent → log → SSE client, message sent → last delta',
  'first page (50) of 10,000 sessions, over the native socket',
]

/** The figures of the README, and nothing else. They are rows of other benchmarks, which have what they are compared with. */
export async function readme(shop: Workshop): Promise<Result[]> {
  const results: Result[] = []
  for (const measure of MEASURED) results.push(...(await measure(shop)))
  return ROWS.map((wanted) => {
    const found = results.find(({ name }) => name === wanted)
    if (!found) throw new Error(`no benchmark has the row ${wanted}`)
    return found
  })
}
