import type { ScriptedModel } from '../test/support/model/server.ts'
import { type RealAgent, REAL_AGENTS, startModel } from './support/agents.ts'
import { openBare } from './support/bare-agent.ts'
import { exchange, newSession } from './support/codecast.ts'
import type { Result, Row } from './support/row.ts'
import { type BenchDaemon, startDaemon } from './support/server.ts'
import { brief, pause } from './support/stats.ts'
import { below, type Memory, memoryOfAll, memoryUntold } from './support/tree.ts'
import type { Workshop } from './support/workshop.ts'

/** Sessions of an agent that has a process for each. */
const FEW = 4
/** Sessions that share one. */
const MANY = 10
/** Of the demo agent, to tell what one more costs the daemon itself. */
const CROWD = 60
const TURNS = 2
const REST_MS = 3000
const MESSAGE = '[[say hello]]'
const ROOM = { CORRAL_AGENTS_MAX_WARM: '1000' }

/** Memory of sessions whose agents wait for the next message. */
export async function warm(shop: Workshop): Promise<Result[]> {
  if (memoryUntold) return [{ name: 'memory of warm sessions', skipped: memoryUntold }]
  const model = await startModel(shop)
  const results: Result[] = []
  for (const agent of REAL_AGENTS) {
    const rows = agent.absent
      ? [{ name: `memory of warm ${agent.name} sessions`, skipped: agent.absent }]
      : null
    results.push(...(rows ?? (await measure(shop, agent, model))))
  }
  await model.close()
  return [...results, await inTheDaemon(shop)]
}

/** One after the other: side by side they would share what they are compared by. */
async function measure(shop: Workshop, agent: RealAgent, model: ScriptedModel): Promise<Result[]> {
  const sessions = agent.driver.shared ? MANY : FEW
  const bare = await bareProcesses(shop, agent, model, sessions)
  const home = await agent.home(model)
  const daemon = await startDaemon(shop, { env: { ...home.env, ...ROOM } })
  await makeWarm(daemon, agent.name, sessions)
  await pause(REST_MS)
  const through = memoryOfAll(below(daemon.pid))
  await daemon.stop()
  await home.close()
  return rowsOf(agent, sessions, through, bare)
}

function rowsOf({ name, driver }: RealAgent, sessions: number, through: Memory, bare: Memory): Row[] {
  const about = ({ processes, mb }: Memory): string => `${brief(mb)} MB in ${processes} processes`
  const ratio = through.mb / bare.mb
  const note = `${sessions} sessions: ${about(through)}, the shells around them included; bare: ${about(bare)}`
  const each: Row = {
    name: `memory of a warm ${name} session, all its processes (against a bare one)`,
    value: through.mb / sessions,
    unit: 'MB',
    ratio,
    note,
  }
  if (!driver.shared) return [each]
  const all = `${sessions} warm ${name} sessions in one process (against ${sessions} processes)`
  return [each, { name: all, value: through.mb, unit: 'MB', ratio, note: `bare: ${about(bare)}` }]
}

async function bareProcesses(
  shop: Workshop,
  agent: RealAgent,
  model: ScriptedModel,
  count: number,
): Promise<Memory> {
  const home = await agent.home(model)
  const processes = []
  for (let i = 0; i < count; i++) {
    const bare = await openBare(shop, agent, home)
    for (let turn = 0; turn < TURNS; turn++) await bare.turn(MESSAGE)
    processes.push(bare)
  }
  await pause(REST_MS)
  const memory = memoryOfAll(processes.flatMap(({ pid }) => [pid, ...below(pid)]))
  await Promise.all(processes.map((bare) => bare.close()))
  await home.close()
  return memory
}

async function makeWarm(daemon: BenchDaemon, agent: string, sessions: number): Promise<void> {
  for (let i = 0; i < sessions; i++) {
    const sessionId = await newSession(daemon.port, daemon.project, agent)
    for (let turn = 0; turn < TURNS; turn++) await exchange(daemon.port, sessionId, MESSAGE)
  }
}

/** As many again as were warm before: by then everything else that the daemon needs for them is there. */
async function inTheDaemon(shop: Workshop): Promise<Row> {
  const daemon = await startDaemon(shop, { env: ROOM })
  const sizes: number[] = []
  for (let i = 0; i < 2; i++) {
    await makeWarm(daemon, 'demo', CROWD / 2)
    await pause(REST_MS)
    sizes.push(memoryOfAll([daemon.pid]).mb)
  }
  await daemon.stop()
  const [before, after] = sizes as [number, number]
  return {
    name: '… what a warm session adds to the daemon itself',
    value: ((after - before) * 1024) / (CROWD / 2),
    unit: 'KB',
    note: `${before.toFixed(1)} → ${after.toFixed(1)} MB with ${CROWD / 2} more sessions of the demo agent`,
  }
}
