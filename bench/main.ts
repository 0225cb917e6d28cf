/**
 * Measures, compares within the same run, prints. Names on the command line choose, `readme` the five figures of the README;
 * `--save` writes results.json; `--no-build` takes dist/ as it is. `--check` fails when a target is missed three times in a row:
 * other work on the machine makes a figure worse, never better.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { agents } from './agents.ts'
import { checkpoint } from './checkpoint.ts'
import { clawde } from './clawde.ts'
import { dashboard } from './dashboard.ts'
import { fanout } from './fanout.ts'
import { humanlayer } from './humanlayer.ts'
import { latency } from './latency.ts'
import { log } from './log.ts'
import { memory } from './memory.ts'
import { readme } from './readme.ts'
import { relay } from './relay.ts'
import { rpc } from './rpc.ts'
import { search } from './search.ts'
import { sessions } from './sessions.ts'
import { start } from './start.ts'
import { met, type Result } from './support/row.ts'
import { machine, table } from './support/table.ts'
import { openWorkshop, type Workshop } from './support/workshop.ts'
import { throughput } from './throughput.ts'
import { warm } from './warm.ts'
import { websocket } from './websocket.ts'

const BENCHMARKS = {
  agents,
  throughput,
  latency,
  log,
  search,
  start,
  sessions,
  memory,
  warm,
  checkpoint,
  rpc,
  fanout,
  humanlayer,
  websocket,
  clawde,
  relay,
  dashboard,
  readme,
}
type Name = keyof typeof BENCHMARKS

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    save: { type: 'boolean' },
    check: { type: 'boolean' },
    build: { type: 'boolean', default: true },
  },
  allowNegative: true,
})
const unknown = positionals.filter((name) => !Object.hasOwn(BENCHMARKS, name))
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${Object.keys(BENCHMARKS).join(', ')}`)
  process.exit(2)
}
/** All but the one that repeats some of them. */
const all = Object.keys(BENCHMARKS).filter((name) => name !== 'readme')
const chosen = (positionals.length > 0 ? positionals : all) as Name[]
if (options.build) execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build.ts')])

const before = loadavg()[0]!.toFixed(2)
const shop = openWorkshop()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void shop.close().finally(() => process.exit(1)))
}
try {
  const results = await runAll(shop)
  console.log(`\n${machine()}; load ${before} before, ${loadavg()[0]!.toFixed(2)} after\n\n${table(results)}`)
  if (options.save) save(results)
  if (options.check) await check(results)
} finally {
  await shop.close()
}

/** Measures what missed its target again, and fails when that does not help. */
async function check(results: readonly Result[]): Promise<void> {
  let left = missed(results)
  for (let again = 1; again <= 2 && left.length > 0; again++) {
    console.log(`\nMissed, so measured again: ${left.join('; ')}\n`)
    const repeated = await runAll(shop)
    console.log(table(repeated))
    const still = new Set(missed(repeated))
    left = left.filter((name) => still.has(name))
  }
  if (left.length === 0) return
  console.error(`\nTargets missed three times: ${left.join('; ')}`)
  process.exitCode = 1
}

function missed(results: readonly Result[]): string[] {
  return results.filter((result) => !('skipped' in result) && met(result) === false).map(({ name }) => name)
}

async function runAll(workshop: Workshop): Promise<Result[]> {
  const results: Result[] = []
  for (const name of chosen) {
    const from = performance.now()
    process.stderr.write(`${name} … `)
    results.push(...(await BENCHMARKS[name](workshop)))
    process.stderr.write(`${((performance.now() - from) / 1000).toFixed(1)} s\n`)
  }
  return results
}

function save(results: Result[]): void {
  const rows = results.map((result) => ('skipped' in result ? result : { ...result, met: met(result) }))
  const file = new URL('results.json', import.meta.url)
  writeFileSync(
    file,
    `${JSON.stringify({ machine: machine(), date: new Date().toISOString(), rows }, null, 2)}\n`,
  )
}
