import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { createConnection, type Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLineSplitter } from '../src/transports/ndjson.ts'
import { open } from './support/asking.ts'
import { count } from './support/count.ts'
import { atLeast, atMost, type Result } from './support/row.ts'
import { startByteEcho, startDaemon } from './support/server.ts'
import { brief, median, pause, spread, timed } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const AGENT = fileURLToPath(new URL('support/permission-agent.ts', import.meta.url))
const SUBSCRIBERS = 1000
/** A little more than what is asked for, so that pacing is not what is measured. */
const EVENTS_PER_SECOND = 105
const EVENTS = 1000
/** Where the system puts a process makes more of a difference than what it does: there are several, measured in turn. */
const LANES = 3
const ROUNDS = 40
const CALLS_PER_ROUND = 100
const WARM_UP = 30
/** Until the code of either is as fast as it gets. */
const FIRST_CALLS = 3000
const HEALTH = '{"jsonrpc":"2.0","method":"health","params":{},"id":1}\n'

/** HumanLayer's protocol: many subscribers, the cheapest request, and how fast a decision reaches the agent. */
export async function humanlayer(shop: Workshop): Promise<Result[]> {
  return [...(await subscribers(shop)), ...(await health(shop)), ...(await decisions(shop))]
}

/** One client changes a title a hundred times a second; a thousand others are told. */
async function subscribers(shop: Workshop): Promise<Result[]> {
  const daemon = await startDaemon(shop)
  const client = await connect(daemon.humanlayer)
  const { session_id } = await client.call<{ session_id: string }>('launchSession', {
    query: '[[say hello]]',
    agent: 'demo',
    working_dir: daemon.project,
  })
  let spent = 0
  const times: number[] = []
  const rename = (title: string) => client.call('updateSessionTitle', { session_id, title })
  const publish = async (): Promise<void> => {
    const before = cpuSeconds(daemon.pid)
    const start = performance.now()
    const renamed: Promise<unknown>[] = []
    for (let i = 0; i < EVENTS; i++) {
      await pause(Math.max(0, start + (i * 1000) / EVENTS_PER_SECOND - performance.now()))
      const title = i === EVENTS - 1 ? 'the last title' : `title ${i}`
      renamed.push(timed(1, () => rename(title)).then(([ms]) => times.push(ms!)))
    }
    await Promise.all(renamed)
    spent = (cpuSeconds(daemon.pid) - before) / ((performance.now() - start) / 1000)
  }
  const subscribe = { method: 'Subscribe', params: { event_types: ['session_settings_changed'] } }
  let published = Promise.resolve()
  const { marks, firstMs, lastMs } = await count(
    shop,
    {
      to: { path: daemon.humanlayer },
      connections: SUBSCRIBERS,
      request: `${JSON.stringify(subscribe)}\n`,
      mark: '"type":"session_settings_changed"',
      last: 'the last title',
    },
    () => (published = publish()),
  )
  await published
  client.close()
  await daemon.stop()
  const sent = EVENTS * SUBSCRIBERS
  return [
    {
      name: `events that reached ${brief(SUBSCRIBERS)} HumanLayer subscribers, of those sent`,
      value: marks / sent,
      unit: '×',
      target: atLeast(1),
      note: `${brief(marks)} of ${brief(EVENTS)} events × ${brief(SUBSCRIBERS)}`,
    },
    {
      name: '… deliveries at about a hundred events a second',
      value: (marks / (lastMs - firstMs)) * 1000,
      unit: '/s',
      target: atLeast(100 * SUBSCRIBERS),
      note: `daemon: ${Math.round(spent * 100)} % of a core; the change itself, round trip: median ${brief(median(times))} ms`,
    },
  ]
}

/**
 * Where the system puts two processes that talk to each other makes a round trip four times as long, or not: all that
 * takes part is put on one processor, where that can be said.
 */
async function health(shop: Workshop): Promise<Result[]> {
  const all = { ours: [] as number[], bare: [] as number[] }
  let together = true
  for (let lane = 0; lane < LANES; lane++) {
    const servers = { ours: await startDaemon(shop), bare: await startByteEcho(shop) }
    for (const pid of [servers.ours.pid, servers.bare.pid, process.pid]) together &&= onProcessors('0', pid)
    const ours = await open({ path: servers.ours.humanlayer }, '\n')
    const bare = await open({ path: servers.bare.socket }, '\n')
    for (const connection of [ours, bare]) await timed(FIRST_CALLS, () => connection.ask(HEALTH))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [kind, connection] of Object.entries({ ours, bare }) as ['ours' | 'bare', typeof ours][]) {
        await timed(WARM_UP, () => connection.ask(HEALTH))
        all[kind].push(...(await timed(CALLS_PER_ROUND, () => connection.ask(HEALTH))))
      }
    }
    for (const connection of [ours, bare]) connection.close()
    for (const server of Object.values(servers)) await server.stop()
  }
  onProcessors(`0-${availableParallelism() - 1}`, process.pid)
  const [value, bare] = [median(all.ours), median(all.bare)]
  return [
    {
      name: 'health on the HumanLayer socket, round trip (against a server that echoes bytes)',
      value,
      unit: 'ms',
      ratio: value / bare,
      target: atMost(1.5, 'ratio'),
      note: `bare: ${bare.toFixed(3)} ms, ${together ? 'on one processor' : 'on any processor'}; ${spread(all.ours)}`,
    },
  ]
}

/** False where there is no way to say so. */
function onProcessors(list: string, pid: number): boolean {
  return spawnSync('taskset', ['-acp', list, String(pid)]).status === 0
}

/** From the writing of `sendDecision` to the moment at which the agent reads the answer from its stdin. */
async function decisions(shop: Workshop): Promise<Result[]> {
  const program = join(shop.directory(), 'claude')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${AGENT}" "$@"\n`)
  chmodSync(program, 0o755)
  const daemon = await startDaemon(shop, { env: { CORRAL_CLAUDE_BIN: program } })
  const client = await connect(daemon.humanlayer)
  const times: number[] = []
  let sentAt = 0n
  const done = new Promise<void>((resolve) => {
    client.onEvent = (type, data) => {
      if (type === 'new_approval') {
        const params = { call_id: data['call_id'], type: 'function_call', decision: 'approve' }
        sentAt = process.hrtime.bigint()
        void client.call('sendDecision', params)
      }
      const [, stamp] = /^<(\d+)>$/.exec(String(data['content'])) ?? []
      if (stamp !== undefined) times.push(Number(BigInt(stamp) - sentAt) / 1e6)
      if (data['new_status'] === 'completed') resolve()
    }
  })
  await client.call('Subscribe', {})
  await client.call('launchSession', { query: 'go', working_dir: daemon.project })
  await done
  client.close()
  await daemon.stop()
  return [
    {
      name: 'a decision, sendDecision written → read by the agent',
      value: median(times),
      unit: 'ms',
      target: atMost(2),
      note: spread(times),
    },
  ]
}

interface Client {
  /** Resolves with the result; a subscription's confirmation counts as the answer to its request. */
  call<T>(method: string, params: object): Promise<T>
  onEvent: (type: string, data: Record<string, unknown>) => void
  close(): void
}

interface Line {
  id: number | null
  result?: { subscription_id?: string; event?: { type: string; data: Record<string, unknown> } }
  error?: { message: string }
}

function connect(path: string): Promise<Client> {
  return new Promise((resolve, reject) => {
    const socket: Socket = createConnection(path)
    const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
    let last = 0
    const client: Client = {
      onEvent: () => undefined,
      call(method, params) {
        const id = ++last
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', method, params, id })}\n`)
        return new Promise((answer, refuse) => waiting.set(id, { resolve: answer, reject: refuse }))
      },
      close: () => socket.destroy(),
    }
    const splitter = createLineSplitter({
      onLine(line) {
        const { id, result, error } = JSON.parse(line.toString()) as Line
        if (result?.event) return client.onEvent(result.event.type, result.event.data)
        const waiter = waiting.get(id ?? last)
        if (error) waiter?.reject(new Error(error.message))
        else waiter?.resolve(result as never)
      },
    })
    socket.on('data', (bytes: Buffer) => splitter.push(bytes))
    socket.once('error', reject)
    socket.once('connect', () => resolve(client))
  })
}

/** What a process has used of the processor so far; not a number where there is no /proc. */
export function cpuSeconds(pid: number): number {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return Number.NaN
  const fields = readFileSync(file, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
