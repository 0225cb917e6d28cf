import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { HttpApp, HttpAppOptions } from '../../transports/http.ts'
import { createAbout } from './about.ts'
import { createActivity } from './activity.ts'
import { openCalls } from './calls.ts'
import { createRelayEvents } from './events.ts'
import { type FailureKind, invalid, RelayFailure } from './failure.ts'
import { licenseBySettings, noLicense } from './license.ts'
import { remoteLicense } from './license-remote.ts'
import type { RelayOptions } from './open.ts'
import { pathIn } from './paths.ts'
import { createPool } from './pool.ts'
import { createAgentProvider } from './providers/agent.ts'
import { createCascade } from './providers/cascade.ts'
import { createUpstreams } from './providers/upstreams.ts'
import { addRoutes } from './routes.ts'
import { createServe, sendFailure } from './serve.ts'
import type { Place } from './sessions/launch.ts'
import { createMemory } from './sessions/memory.ts'
import { createSessionRoutes } from './sessions/routes.ts'
import { createTalks } from './sessions/talks.ts'
import { openSettings } from './settings.ts'
import { openUsageCount } from './usage-count.ts'

/** What listens for the relay's clients, once it is there. */
export interface Relay {
  /** Answers what no route does. */
  refuse: NonNullable<HttpAppOptions['refuse']>
  /** Ends what goes on by itself. */
  stop(): void
  /** Resolves when all is written down. */
  flushed(): Promise<void>
}

const PING_MS = 15_000
const TEND_MS = 30_000

/** Anthropic- and OpenAI-shaped HTTP on top of sessions and of other APIs: builds the parts and adds their routes. */
export async function createRelay(app: HttpApp, port: () => number, options: RelayOptions): Promise<Relay> {
  const { engine, directory, env, warn, newId, onFault, idleMs, heldMs } = options
  const now = Date.now
  const onProblem = (problem: string): void => warn(`relay: ${problem}`)
  const file = (name: string): string => join(directory, name)
  const ownPlace = file('work')
  mkdirSync(ownPlace, { recursive: true, mode: 0o700 })

  const settings = openSettings({ path: file('settings.json'), env, onProblem })
  const place = (): Place => {
    const { agent, workingDir, builtinToolsEnabled, mode } = settings.current()
    const able = options.abilities(agent)
    return { agent, cwd: workingDir ?? ownPlace, ownTools: builtinToolsEnabled, ...able, mode }
  }
  const events = createRelayEvents({ now, keepAliveMs: PING_MS })
  const calls = await openCalls({
    path: file('recent-calls.jsonl'),
    now,
    storePrompts: () => settings.current().storePrompts,
    secrets: settings.secrets,
    onProblem,
  })
  const activity = createActivity(calls.ring)
  const license = licenseBySettings(() => settings.current().licenseUrl !== null, {
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

  const talks = createTalks(engine, { now, warn })
  const memory = createMemory({
    directory: file('sessions'),
    maxWaiting: options.maxWaiting,
    now,
    kept: talks.knows,
    onProblem,
  })
  const active = (): number =>
    memory.count() + talks.list().filter(({ stickyId }) => stickyId === null).length
  const pool = createPool({
    spares: options.spares,
    active,
    place,
    size: () => settings.current().poolSize,
    prewarm: () => settings.current().prewarm,
    now,
    idleMs,
    changed: (counts) => events.add({ type: 'pool.changed', ...counts }),
  })
  const about = createAbout({
    agent: options.agent,
    settings: settings.current,
    told: engine.agents.models,
    sessions: active,
    port,
    version: options.version,
    startedAt: options.startedAt,
    now,
  })
  const sessions = createSessionRoutes({ talks, memory, pool, events, now })
  const agent = createAgentProvider({
    engine,
    talks,
    place,
    wanted: pool.wanted,
    created: (sessionId) => events.add({ type: 'session.created', sessionId }),
    missing: about.missing,
    now,
    maxActive: options.maxActive,
    maxWaiting: options.maxWaiting,
    maxHeld: options.maxHeld,
  })
  const upstreams = createUpstreams(() => settings.current().upstreams)
  const cascade = createCascade({ providers: () => [agent, ...upstreams.providers()] })

  addRoutes(app, {
    about,
    cascade,
    license,
    settings,
    calls,
    activity,
    events,
    pool,
    sessions,
    bodyLimit: options.bodyLimit,
    now,
    newId,
    onFault,
    async changeSettings(body) {
      const before = settings.current()
      await checkAgent(body, options.agent)
      const { licenseKey, licenseUrl } = settings.patch(body)
      pool.tend()
      if (licenseKey !== before.licenseKey || licenseUrl !== before.licenseUrl) await license.refresh()
    },
    serve: createServe({
      cascade,
      license,
      calls,
      events,
      memory,
      settings: settings.current,
      now,
      newId,
      onFault,
      pingMs: PING_MS,
    }),
  })

  const tending = setInterval(
    () => {
      sessions.expire({ idleMs, heldMs })
      pool.tend()
    },
    Math.min(TEND_MS, idleMs, heldMs),
  ).unref()

  await memory.restore()
  talks.restore()
  pool.tend()

  return {
    refuse(req, res, { status, message }) {
      const kind = REFUSALS[status] ?? 'invalid_request_error'
      const asked = `${req.method} ${pathIn(req.url)}`
      const text = message || `${status === 404 ? 'No such route' : 'Not allowed'}: ${asked}`
      sendFailure(req, res, new RelayFailure(status, kind, text), newId())
    },
    stop() {
      clearInterval(tending)
      activity.close()
      events.close()
      license.close()
      upstreams.close()
    },
    flushed: calls.flushed,
  }
}

/** Who cannot be asked is refused here and not at the next call. */
async function checkAgent(body: unknown, agentOf: RelayOptions['agent']): Promise<void> {
  const { agent } = (body ?? {}) as Record<string, unknown>
  if (typeof agent === 'string' && !(await agentOf(agent))) {
    throw invalid('agent', `\`agent\`: there is no ${agent}`)
  }
}

const REFUSALS: Readonly<Record<number, FailureKind>> = {
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
}
