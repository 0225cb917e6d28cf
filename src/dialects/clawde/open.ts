import { hostname } from 'node:os'
import { onDemand } from '../../transports/on-demand.ts'
import type { WebSocketOptions } from '../../transports/websocket.ts'
import type { OpenDialect } from '../dialect.ts'
import { CODES, rpcError } from './errors.ts'
import { SEND_LIMIT } from './limits.ts'
import type { clawde } from './index.ts'
import { type ClawdeListener, createClawdeListener } from './listener.ts'
import { advertise, type Advertiser, wantsAdvertising } from './mdns.ts'
import type { RepoStatus } from '../ports.ts'
import type { Serving, ServingParts, Update } from './serving.ts'
import { clawdeSettings } from './settings.ts'
import { watchForUpdates } from './update-watch.ts'

type Context = Parameters<(typeof clawde)['open']>[0]

export async function open(context: Context): Promise<OpenDialect> {
  const { engine, daemon, devices, workspace, homedir, log, onFault } = context
  const { version, startedAt, resources, updates, reports: providers } = daemon
  const warn = (message: string, error: unknown): void => log.warn({ error }, message)
  const settings = clawdeSettings({
    env: context.env,
    home: homedir,
    platform: process.platform,
    ...context.settings,
  })
  const around = { engine, devices, settings, version, startedAt, onFault }
  const listener = createClawdeListener({ ...around, log, metrics: daemon.metrics })
  const daemonId = await daemon.id()
  let neighbours: Advertiser | null = null
  const dialect = clawdeDialect({
    ...around,
    updates,
    resources,
    listener,
    workspace,
    providers,
    daemonId,
    home: homedir,
    dataDir: context.home,
    cwd: context.cwd,
    examine: async () => (await daemon.examine()).checks,
    newId: context.newId,
    isAdvertised: () => neighbours !== null,
  })
  workspace.onChanged(dialect.repoChanged)
  const address = await listener.start()
  const stopAsking = watchForUpdates(updates, dialect.updateAvailable, warn)
  if (wantsAdvertising(context.settings.mdns, address.startsWith('wss:'))) {
    const name = engine.daemon.name ?? hostname()
    neighbours = await advertise({ port: listener.port, version, daemonId, name }, warn)
  }
  return {
    address,
    async close() {
      stopAsking()
      await Promise.all([neighbours?.stop(), listener.stop()])
    },
  }
}

export interface ClawdeParts extends Omit<
  ServingParts,
  'metrics' | 'lagMs' | 'silentMs' | 'now' | 'port' | 'onFault'
> {
  listener: ClawdeListener
  timing?: ClawdeTiming
  onFault?(error: unknown): void
}

export interface ClawdeTiming extends Pick<WebSocketOptions, 'admitMs' | 'beat'> {
  /** Who is behind for no longer than this was not slow. */
  lagMs?: number
  /** Where people are asked: a call of a session that is silent for so long is told as running. */
  silentMs?: number
  /** What `lagMs` is measured by. */
  now?(): number
}

/** A single large message fills what may be unsent, and is taken within a moment. */
const LAG_MS = 1000
/** Longer than an agent takes from naming a call to asking about it. */
const SILENT_MS = 10_000

export interface ClawdeDialect {
  /** The status of an open repository is another one now. */
  repoChanged(status: RepoStatus): void
  updateAvailable(update: Update): void
}

/** ClawDE's daemon protocol, on every path of its port. */
export function clawdeDialect(given: ClawdeParts): ClawdeDialect {
  const { listener, onFault = () => {}, timing = {}, ...parts } = given
  const { lagMs = LAG_MS, silentMs = SILENT_MS, now = () => performance.now(), ...pace } = timing
  const { metrics } = listener
  let serving: Serving | null = null

  async function served(): Promise<Serving> {
    const { createServing } = await import('./serving.ts')
    const rest = { metrics, lagMs, silentMs, now, port: () => listener.port, onFault }
    return (serving ??= createServing({ ...parts, ...rest }))
  }

  listener.serve(
    {
      code: CODES.unauthorized,
      beforehand: {
        method: 'device.pair',
        error: (thrown) => rpcError(thrown, parts.home),
        answer: async (params) => (await served()).pair(params),
      },
      accept: onDemand(async () => (await served()).accept, onFault),
    },
    { sendLimit: SEND_LIMIT, ...pace },
  )

  return {
    // Nobody has ever come: there is nobody to tell.
    repoChanged: (status) => serving?.repoChanged(status),
    updateAvailable: (update) => serving?.updateAvailable(update),
  }
}
