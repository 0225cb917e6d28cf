import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { cpuSeconds } from './humanlayer.ts'
import { follow, newSession } from './support/codecast.ts'
import { count } from './support/count.ts'
import { atLeast, atMost, type Result, type Row } from './support/row.ts'
import { startDaemon, type BenchDaemon } from './support/server.ts'
import { brief, median, timed } from './support/stats.ts'
import type { WatchJob, Watched } from './support/watchers.ts'
import type { Workshop } from './support/workshop.ts'
import { masked, open, startServer, upgrade } from './websocket.ts'

const AGENT = fileURLToPath(new URL('support/stamping-agent.ts', import.meta.url))
const WATCHERS = join(import.meta.dirname, 'support/watchers.ts')
const CLIENTS = 1000
/** As fast as models talk: twenty pieces a second, for five seconds. */
const PIECES = 100
const EVERY_MS = 50
const ROUNDS = 3
const CALLS = 2000
const FAN_OUT: [clients: number, messages: number][] = [
  [100, 1000],
  [1000, 150],
]
/** Pieces of a message; each of them is told of when it begins and when it is complete, at least. */
const SHORT = 4
const MARK = '"method":"session.message'
const LAST = '"status":"idle"'
const PING = '{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}'

/** ClawDE's protocol: many who watch one session, and the cheapest request. */
export async function clawde(shop: Workshop): Promise<Result[]> {
  const rows: Result[] = await watchers(shop)
  for (const [clients, messages] of FAN_OUT) rows.push(await fanOut(shop, clients, messages))
  return [...rows, await roundTrips(shop)]
}

/** A daemon with a session whose agent talks as it is told, and has done so once. */
async function talking(
  shop: Workshop,
  stamps: string,
): Promise<{ daemon: BenchDaemon; talk: () => Promise<void> }> {
  const program = join(shop.directory(), 'claude')
  writeFileSync(program, `#!/bin/sh\n${stamps} exec "${process.execPath}" "${AGENT}" "$@"\n`)
  chmodSync(program, 0o755)
  const daemon = await startDaemon(shop, { env: { CORRAL_CLAUDE_BIN: program } })
  const sessionId = await newSession(daemon.port, daemon.project, 'claude')
  const talk = (): Promise<void> => follow(daemon.port, { sessionId, message: 'go' }, () => undefined)
  await talk()
  return { daemon, talk }
}

async function watchers(shop: Workshop): Promise<Result[]> {
  const { daemon, talk } = await talking(shop, `STAMPS=${PIECES} STAMP_EVERY_MS=${EVERY_MS}`)
  const before = daemon.memory()
  let during = 0
  let spent = 0
  const watched = await watch(shop, daemon, async () => {
    const looking = setInterval(() => (during = Math.max(during, daemon.memory())), 500)
    const from = cpuSeconds(daemon.pid)
    for (let round = 0; round < ROUNDS; round++) await talk()
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
  const port = daemon.clawde
  const request = upgrade(port, '/', `authorization: Bearer ${daemon.clawdeToken}\r\n`)
  const job: WatchJob = { port, connections: CLIENTS, request, last: LAST, rounds: ROUNDS }
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

/** One session that says short messages as fast as it can; `ws` alone sends what it was told in one round in a loop. */
async function fanOut(shop: Workshop, clients: number, messages: number): Promise<Row> {
  const stamps = `STAMP_MESSAGES=${messages} STAMPS=${SHORT} STAMP_EVERY_MS=0`
  const { daemon, talk } = await talking(shop, stamps)
  const bare = await startServer(shop, 'bare')
  const port = daemon.clawde
  const authorization = `authorization: Bearer ${daemon.clawdeToken}\r\n`
  const texts = await recorded(daemon, port, talk)
  const go = (): Promise<unknown> =>
    fetch(`http://127.0.0.1:${bare.port}/go`, { method: 'POST', body: JSON.stringify(texts) })
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] }
  let pushes = 0
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await delivered(shop, clients, port, upgrade(port, '/', authorization), talk)
    const theirs = await delivered(shop, clients, bare.port, upgrade(bare.port, '/'), go)
    if (theirs.marks !== clients * marksIn(texts)) throw new Error('not all of it arrived')
    rates.ours.push(ours.perSecond)
    rates.bare.push(theirs.perSecond)
    pushes = ours.marks / clients
  }
  await Promise.all([daemon.stop(), bare.stop()])
  const [value, bareRate] = [median(rates.ours), median(rates.bare)]
  return {
    name: `pushes of one session to ${brief(clients)} ClawDE clients (against a loop over bare ws)`,
    value,
    unit: '/s',
    ratio: value / bareRate,
    target: atLeast(0.8, 'ratio'),
    note: `bare: ${brief(bareRate)} /s; ${brief(pushes)} pushes in the last round, ${brief(marksIn(texts))} in bare’s`,
  }
}

const marksIn = (texts: readonly string[]): number => texts.filter((text) => text.includes(MARK)).length

/** All that one client is told of one round. */
async function recorded(daemon: BenchDaemon, port: number, talk: () => Promise<void>): Promise<string[]> {
  const texts: string[] = []
  const ws = new WebSocket(`ws://127.0.0.1:${port}/`, {
    headers: { authorization: `Bearer ${daemon.clawdeToken}` },
  })
  await once(ws, 'open')
  const over = new Promise<void>((resolve) => {
    ws.on('message', (data: Buffer) => {
      texts.push(data.toString())
      if (texts.at(-1)!.includes(LAST)) resolve()
    })
  })
  await talk()
  await over
  ws.terminate()
  return texts
}

async function delivered(
  shop: Workshop,
  connections: number,
  port: number,
  request: string,
  go: () => Promise<unknown>,
): Promise<{ marks: number; perSecond: number }> {
  const job = { to: { port, host: '127.0.0.1' }, connections, request, mark: MARK, last: LAST }
  let going: Promise<unknown> = Promise.resolve()
  const { marks, firstMs, lastMs } = await count(shop, job, () => (going = go()))
  await going
  return { marks, perSecond: (marks / (lastMs - firstMs)) * 1000 }
}

async function roundTrips(shop: Workshop): Promise<Row> {
  const daemon = await startDaemon(shop, { env: { CORRAL_CLAWDE_REQUESTS_PER_SECOND: '0' } })
  const bare = await startServer(shop, 'bare')
  const port = daemon.clawde
  const authorization = `authorization: Bearer ${daemon.clawdeToken}\r\n`
  const lines = [await open(port, '/', authorization), await open(bare.port, '/')] as const
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
