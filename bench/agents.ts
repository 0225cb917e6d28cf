import { uuid } from '../src/core/ids.ts'
import type { AgentHome } from '../test/support/agent-home.ts'
import type { ScriptedModel } from '../test/support/model/server.ts'
import { type RealAgent, REAL_AGENTS, startModel } from './support/agents.ts'
import { type BareAgent, openBare } from './support/bare-agent.ts'
import { type Exchange, exchange, newSession } from './support/codecast.ts'
import { atLeast, atMost, type Result } from './support/row.ts'
import { type BenchDaemon, startDaemon } from './support/server.ts'
import { brief, median, pause, percentile, spread } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

/** One process is not like another: each way has several, measured in turn. */
const LANES = 3
/** Pairs for each of them. */
const ROUNDS = 24
/** Until the code of either is as fast as it gets. */
const FIRST_TURNS = 6
/** After every so many rounds come two turns with a new process each. */
const RESUME_EVERY = 5
/** Agents tidy up after a turn; nobody is measured while they do. */
const REST_MS = 200
const MESSAGE = '[[say hello]]'

type Way = 'through' | 'bare'
type Times = Record<Way, Exchange[]>

type Lane = Record<Way, () => Promise<Exchange>>

/** A turn of every real agent on a warm process: through the daemon, and with the agent's own process driven directly. */
export async function agents(shop: Workshop): Promise<Result[]> {
  const model = await startModel(shop)
  const results: Result[] = []
  for (const agent of REAL_AGENTS) {
    if (agent.absent) {
      results.push({ name: `${agent.name}, a turn`, skipped: agent.absent })
      continue
    }
    const homes = homesOf(agent, model)
    results.push(...(await measure(shop, agent, homes).finally(homes.close)))
  }
  await model.close()
  return results
}

async function measure(shop: Workshop, agent: RealAgent, homes: Homes): Promise<Result[]> {
  const { lanes, close } = await openLanes(shop, agent, homes)
  const resumed = agent.name === 'claude' ? eachTimeAnew(shop, agent, await homes.next()) : null
  for (const start of lanes.flatMap(({ through, bare }) => [through, bare])) {
    for (let i = 0; i < FIRST_TURNS; i++) await start()
  }
  await resumed?.()
  const times: Times = { through: [], bare: [] }
  const anew: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const lane of lanes) await pair(lane, round, times)
    if (!resumed || round % RESUME_EVERY > 0) continue
    for (let again = 0; again < 2; again++) {
      await pause(REST_MS)
      anew.push((await resumed()).firstMs)
    }
  }
  await close()
  return [...turnRows(agent, times), ...(resumed ? [anewRow(anew, times.through)] : [])]
}

/** As many processes through daemons as bare ones: where sessions share a process, every one has a daemon of its own. */
async function openLanes(shop: Workshop, agent: RealAgent, homes: Homes) {
  const daemons: BenchDaemon[] = []
  const bares: BareAgent[] = []
  const lanes: Lane[] = []
  for (let i = 0; i < LANES; i++) {
    if (i === 0 || agent.driver.shared)
      daemons.push(await startDaemon(shop, { env: (await homes.next()).env }))
    const { port, project } = daemons.at(-1)!
    const sessionId = await newSession(port, project, agent.name)
    const bare = await openBare(shop, agent, await homes.next())
    bares.push(bare)
    lanes.push({ through: () => exchange(port, sessionId, MESSAGE), bare: () => bare.turn(MESSAGE) })
  }
  const close = async (): Promise<void> => {
    await Promise.all([...bares.map((bare) => bare.close()), ...daemons.map((daemon) => daemon.stop())])
  }
  return { lanes, close }
}

/** Every daemon and every bare process has one of its own. */
interface Homes {
  next(): Promise<AgentHome>
  close: () => Promise<void>
}

function homesOf(agent: RealAgent, model: ScriptedModel): Homes {
  const made: AgentHome[] = []
  return {
    async next() {
      const home = await agent.home(model)
      made.push(home)
      return home
    },
    async close() {
      await Promise.all(made.map((home) => home.close()))
    },
  }
}

/** Who comes first changes from round to round. */
async function pair(lane: Lane, round: number, times: Times): Promise<void> {
  const ways: Way[] = round % 2 === 0 ? ['through', 'bare'] : ['bare', 'through']
  for (const way of ways) {
    await pause(REST_MS)
    times[way].push(await lane[way]())
  }
}

/** A new process for every turn of one conversation. */
function eachTimeAnew(shop: Workshop, agent: RealAgent, home: AgentHome): () => Promise<Exchange> {
  const conversation = uuid()
  let nativeId: string | null = null
  return async () => {
    const sent = performance.now()
    const bare = await openBare(shop, agent, home, { nativeId }, () => conversation)
    nativeId = conversation
    const times = await bare.turn(MESSAGE, sent)
    await bare.close()
    return times
  }
}

function turnRows({ name }: RealAgent, { through, bare }: Times): Result[] {
  const first = { through: through.map(({ firstMs }) => firstMs), bare: bare.map(({ firstMs }) => firstMs) }
  const end = { through: through.map(({ endMs }) => endMs), bare: bare.map(({ endMs }) => endMs) }
  return [
    {
      name: `${name}, a turn on a warm process, message sent → first token: bare`,
      value: median(first.bare),
      unit: 'ms',
      note: spread(first.bare),
    },
    {
      name: '… through the daemon, at an SSE client',
      value: median(first.through),
      unit: 'ms',
      ratio: median(first.through) / median(first.bare),
      ...(name === 'claude' && { target: atMost(1.1, 'ratio') }),
      note: spread(first.through),
    },
    added('… added to the first token', first),
    added('… added to the end of the turn', end),
  ]
}

function added(name: string, { through, bare }: Record<Way, number[]>): Result {
  const least = (share: number): string => (percentile(through, share) - percentile(bare, share)).toFixed(1)
  return {
    name,
    value: median(through) - median(bare),
    unit: 'ms',
    ratio: median(through) / median(bare),
    target: atMost(10),
    note: `${brief(median(bare))} → ${brief(median(through))} ms; quartiles: ${least(0.25)} ms, minima: ${least(0)} ms`,
  }
}

function anewRow(anew: number[], through: Exchange[]): Result {
  return {
    name: '… a new `claude -p --resume` per turn, against the daemon',
    value: median(anew),
    unit: 'ms',
    ratio: median(anew) / median(through.map(({ firstMs }) => firstMs)),
    target: atLeast(8, 'ratio'),
    note: spread(anew),
  }
}
