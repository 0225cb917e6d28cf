import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cpuSeconds } from './humanlayer.ts'
import { follow, newSession } from './support/codecast.ts'
import { atLeast, atMost, type Result, type Row } from './support/row.ts'
import { startDaemon, type BenchDaemon } from './support/server.ts'
import { brief, median, timed } from './support/stats.ts'
import type { WatchJob, Watched } from './support/watchers.ts'
import type { Workshop } from './support/workshop.ts'
import { masked, open, startServer, upgrade } from './websocket.ts'

const AGENT = new URL('support/stamping-agent.ts', import.meta.url).pathname
const WATCHERS = new URL('support/watchers.ts', import.meta.url).pathname
const CLIENTS = 1000
/** As fast as models talk: twenty pieces a second, for five seconds. */
const PIECES = 100
const EVERY_MS = 50
const ROUNDS = 3
const CALLS = 2000
const PING = '{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}'

/** ClawDE's protocol: many who watch one session, and the cheapest request. */
export async function clawde(shop: Workshop): Promise<Result[]> {
  return [...(await watchers(shop)), await roundTrips(shop)]
}

async function watchers(shop: Workshop): Promise<Result[]> {
  const program = join(shop.directory(), 'claude')
  const stamps = `STAMPS=${PIECES} STAMP_EVERY_MS=${EVERY_MS}`
  writeFileSync(program, `#!/bin/sh\n${stamps} exec "${process.execPath}" "${AGENT}" "$@"\n`)
  chmodSync(program, 0o755)
  const daemon = await startDaemon(shop, { env: { CORRAL_CLAUDE_BIN: program } })
  const sessionId = await newSession(daemon.port, daemon.project, 'claude')
  const talk = (): Promise<unknown> => follow(daemon.port, { sessionId, message: 'go' }, () => undefined)
  await talk()
  const before = daemon.memory()
  let during = 0
  let spent = 0
  const watched = await watch(shop, daemon, async () => {
    const looking = setInterval(() => (during = Math.max(during, daemon.memory())), 500)
    const from = cpuSeconds(daemon.pid)
    await talk()
    spent = cpuSeconds(daemon.pid) - from
    clearInterval(looking)
  })
  await daemon.stop()
  return [
    {
      name: `a piece of a message, agent’s write → ${brief(CLIENTS)} ClawDE clients, p99`,
      value: watched.p99Ms,
      unit: 'ms',
      target: atMost(50),
      note:
        `median ${brief(watched.medianMs)}, max ${brief(watched.maxMs)}, n ${brief(watched.samples)}; ` +
        `daemon: ${Math.round((spent * 1e6) / watched.samples)} µs of a core for each`,
    },
    {
      name: '… memory of the daemon for each of them',
      value: ((during - before) * 1024) / CLIENTS,
      unit: 'KB',
      note: `${brief(before)} MB before, ${brief(during)} MB at the most`,
    },
  ]
}

async function watch(shop: Workshop, daemon: BenchDaemon, talk: () => Promise<void>): Promise<Watched> {
  const port = Number(new URL(daemon.webSocket).port)
  const request = upgrade(port, '/', `authorization: Bearer ${daemon.token}\r\n`)
  const job: WatchJob = { port, connections: CLIENTS, request, last: '"status":"idle"' }
  const child = shop.spawn(process.execPath, [WATCHERS, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  let talking = Promise.resolve()
  let told = false
  child.stdout!.on('data', (bytes: Buffer) => {
    printed += bytes.toString()
    if (told || !printed.includes('ready\n')) return
    told = true
    talking = talk()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`the watchers ended with ${code}`)
  await talking
  return JSON.parse(printed.trim().split('\n').at(-1)!) as Watched
}

async function roundTrips(shop: Workshop): Promise<Row> {
  const daemon = await startDaemon(shop, { env: { CORRAL_CLAWDE_REQUESTS_PER_SECOND: '0' } })
  const bare = await startServer(shop, 'bare')
  const { port } = new URL(daemon.webSocket)
  const authorization = `authorization: Bearer ${daemon.token}\r\n`
  const lines = [await open(Number(port), '/', authorization), await open(bare.port, '/')] as const
  const frame = masked(PING)
  const times: [number[], number[]] = [[], []]
  for (const { ask } of lines) await timed(CALLS, () => ask(frame))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { ask }] of lines.entries())
      times[index]!.push(...(await timed(CALLS, () => ask(frame))))
  }
  for (const line of lines) line.close()
  await Promise.all([daemon.stop(), bare.stop()])
  const [ours, theirs] = times.map((some) => 1000 / median(some)) as [number, number]
  return {
    name: 'daemon.ping, one after the other (against bare ws)',
    value: ours,
    unit: '/s',
    ratio: ours / theirs,
    target: atLeast(0.7, 'ratio'),
    note: `bare: ${brief(theirs)} /s; n ${times[0].length}`,
  }
}
