import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../core/api.ts'
import { answerCall, type Listen } from './answering.ts'
import { invalid } from './failure.ts'
import { licenseBySettings, type LicensePolicy, noLicense } from './license/license.ts'
import { remoteLicense } from './license/remote.ts'
import { openUsageCount } from './license/usage-count.ts'
import { type ModelEntry, modelsOf } from './models.ts'
import { createPool, type Pool } from './pool.ts'
import type { AgentAbilities, AgentReport, Spares } from './ports.ts'
import { createAgentProvider } from './providers/agent.ts'
import { type Cascade, createCascade } from './providers/cascade.ts'
import type { ModelCall } from './providers/provider.ts'
import { createUpstreams } from './providers/upstreams.ts'
import { type CallRecords, openCallRecords } from './records/call-records.ts'
import { type CallSeries, openCallSeries } from './records/call-series.ts'
import { createRelayEvents, type RelayEvents } from './records/events.ts'
import { createRunningCalls, type RunningCall } from './records/running-calls.ts'
import type { SessionSetup } from './sessions/launch.ts'
import { createMemory } from './sessions/memory.ts'
import { createNamedSessions, type NamedSessions } from './sessions/named.ts'
import { createTalks, type Talks } from './sessions/talks.ts'
import { openSettings, type SettingsStore } from './settings/settings.ts'

export interface RelayOptions {
  engine: Engine
  spares: Spares
  /** What the machine has of an agent; null: there is no such agent. */
  agent(name: string): Promise<AgentReport | null>
  abilities(name: string): AgentAbilities
  /** Where the relay keeps what is its own. */
  directory: string
  env: NodeJS.ProcessEnv
  /** Turns that run at the same time; as many as `maxWaiting` wait. */
  maxActive: number
  maxWaiting: number
  /** Agents that wait for results of tools, and for how long. */
  maxHeld: number
  heldMs: number
  /** Sticky sessions and waiting processes end when nobody has used them for so long. */
  idleMs: number
  warn: (message: string, error?: unknown) => void
  onFault: (error: unknown) => void
}

/** Model calls on top of sessions and of other APIs, by nouns. */
export interface Relay {
  readonly settings: SettingsStore
  readonly license: LicensePolicy
  readonly calls: CallRecords
  readonly series: CallSeries
  readonly events: RelayEvents
  readonly pool: Pool
  readonly sessions: NamedSessions
  readonly cascade: Cascade
  /** Answers a call; see `answering.ts`. */
  answer(call: ModelCall & { startedAt: number }, listen: Listen): Promise<void>
  /** Calls that are not over. */
  running(): RunningCall[]
  /** Patches the settings, and what depends on them follows. */
  changeSettings(body: unknown): Promise<void>
  /** The models that answers may be asked of. */
  models(): Promise<ModelEntry[]>
  /** Why the agent cannot be asked; null when it can. */
  missing(): Promise<string | null>
  /** Sessions with a name, and calls that stand for themselves and are not over. */
  active(): number
  /** Ends what goes on by itself. */
  close(): void
}

/** What all parts are built with. */
interface Ground extends RelayOptions {
  settings: SettingsStore
  events: RelayEvents
  now: () => number
  onProblem: (problem: string) => void
  file: (name: string) => string
  /** How the settings want sessions to be. */
  setup: () => SessionSetup
}

const TEND_MS = 30_000

/** Opens the relay with what an earlier daemon has left. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const ground = groundOf(options)
  const { engine, settings, events, now, onProblem, file, warn, maxWaiting } = ground
  const calls = await openCallRecords({
    path: file('recent-calls.jsonl'),
    now,
    storePrompts: () => settings.current().storePrompts,
    secrets: settings.secrets,
    onProblem,
  })
  const series = seriesOf(ground, calls)
  const running = createRunningCalls()
  const license = licenseOf(ground)
  const talks = createTalks(engine, { now, warn })
  const memory = createMemory({ directory: file('sessions'), maxWaiting, now, kept: talks.knows, onProblem })
  const active = (): number =>
    memory.count() + talks.list().filter(({ stickyId }) => stickyId === null).length
  const pool = poolOf(ground, active)
  const sessions = createNamedSessions({ talks, memory, pool, events, now })
  const missing = (): Promise<string | null> => missingIn(ground)
  const agent = agentOf(ground, talks, pool, missing)
  const upstreams = createUpstreams(() => settings.current().upstreams)
  const cascade = createCascade({ providers: () => [agent, ...upstreams.providers()] })
  const answering = { ...ground, cascade, license, calls, memory, settings: settings.current }
  await memory.restore()
  talks.restore()
  const stopTending = tend(ground, sessions, pool)

  return {
    settings,
    license,
    calls,
    series,
    events,
    pool,
    sessions,
    cascade,
    answer: (call, listen) => running.during(call, () => answerCall(answering, call, listen)),
    running: running.list,
    changeSettings: (body) => changeSettings(ground, body, pool, license),
    models: () => modelsIn(ground),
    missing,
    active,
    close() {
      stopTending()
      series.flush()
      license.close()
      upstreams.close()
    },
  }
}

function groundOf(options: RelayOptions): Ground {
  const { directory, env, warn } = options
  const now = Date.now
  const onProblem = (problem: string): void => warn(`relay: ${problem}`)
  const file = (name: string): string => join(directory, name)
  const work = file('work')
  mkdirSync(work, { recursive: true, mode: 0o700 })
  const settings = openSettings({ path: file('settings.json'), env, onProblem })
  const setup = (): SessionSetup => {
    const { agent, workingDir, builtinToolsEnabled, mode } = settings.current()
    return {
      agent,
      cwd: workingDir ?? work,
      ownTools: builtinToolsEnabled,
      ...options.abilities(agent),
      mode,
    }
  }
  return { ...options, settings, events: createRelayEvents({ now }), now, onProblem, file, setup }
}

/** Whatever is recorded is counted. */
function seriesOf({ file, onProblem }: Ground, { ring }: CallRecords): CallSeries {
  const series = openCallSeries({
    path: file('calls-by-hour.json'),
    records: ring.slice(ring.first),
    onProblem,
  })
  ring.onAdd(() => series.add(ring.at(ring.end - 1)!))
  return series
}

function licenseOf({ settings, events, file, now, onProblem }: Ground): LicensePolicy {
  return licenseBySettings(() => settings.current().licenseUrl !== null, {
    off: noLicense({ hasKey: () => settings.current().licenseKey !== null, now }),
    remote: remoteLicense({
      wishes: settings.current,
      usage: openUsageCount({ path: file('usage.json'), now, onProblem }),
      path: file('license.json'),
      now,
      onRefreshed: ({ license: { valid, tier } }) => events.add({ type: 'license.refreshed', valid, tier }),
      onProblem,
    }),
  })
}

function poolOf({ spares, setup, settings, events, now, idleMs }: Ground, active: () => number): Pool {
  return createPool({
    spares,
    active,
    setup,
    size: () => settings.current().poolSize,
    prewarm: () => settings.current().prewarm,
    now,
    idleMs,
    changed: (counts) => events.add({ type: 'pool.changed', ...counts }),
  })
}

function agentOf(ground: Ground, talks: Talks, pool: Pool, missing: Relay['missing']) {
  const { events } = ground
  return createAgentProvider({
    ...ground,
    talks,
    wanted: pool.wanted,
    created: (sessionId) => events.add({ type: 'session.created', sessionId }),
    missing,
  })
}

/** Ends what nobody has used for long, now and then. Returns how to stop that. */
function tend({ idleMs, heldMs }: Ground, sessions: NamedSessions, pool: Pool): () => void {
  const timer = setInterval(
    () => {
      sessions.expire({ idleMs, heldMs })
      pool.tend()
    },
    Math.min(TEND_MS, idleMs, heldMs),
  ).unref()
  pool.tend()
  return () => clearInterval(timer)
}

async function missingIn({ settings, agent: agentOf }: Ground): Promise<string | null> {
  const { agent } = settings.current()
  const found = await agentOf(agent)
  if (!found) return `there is no agent ${agent}`
  return found.installed ? null : (found.problem ?? `${agent} is not installed`)
}

async function modelsIn({ settings, engine }: Ground): Promise<ModelEntry[]> {
  const { agent, upstreams, prices } = settings.current()
  return modelsOf({ agent, told: await engine.agents.models(agent), upstreams, priced: Object.keys(prices) })
}

async function changeSettings(
  { settings, agent: agentOf }: Ground,
  body: unknown,
  pool: Pool,
  license: LicensePolicy,
): Promise<void> {
  const before = settings.current()
  const { agent } = (body ?? {}) as Record<string, unknown>
  // Who cannot be asked is refused here and not at the next call.
  if (typeof agent === 'string' && !(await agentOf(agent))) {
    throw invalid('agent', `\`agent\`: there is no ${agent}`)
  }
  const { licenseKey, licenseUrl } = settings.patch(body)
  pool.tend()
  if (licenseKey !== before.licenseKey || licenseUrl !== before.licenseUrl) await license.refresh()
}
