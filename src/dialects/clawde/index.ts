import { onDemand } from '../../transports/on-demand.ts'
import type { WebSocketOptions } from '../../transports/websocket.ts'
import { CODES, rpcError } from './errors.ts'
import { SEND_LIMIT } from './limits.ts'
import type { ClawdeListener } from './listener.ts'
import type { RepoStatus } from './ports.ts'
import type { Serving, ServingParts, Update } from './serving.ts'

export { createClawdeListener } from './listener.ts'
export { clawdeSettings } from './settings.ts'

export interface ClawdeParts extends Omit<
  ServingParts,
  'metrics' | 'lagMs' | 'silentMs' | 'port' | 'onFault'
> {
  listener: ClawdeListener
  timing?: ClawdeTiming
  onFault?(error: unknown): void
}

export interface ClawdeTiming extends Pick<WebSocketOptions, 'admitMs' | 'pingMs'> {
  /** Who is behind for no longer than this was not slow. */
  lagMs?: number
  /** Where people are asked: a call of a session that is silent for so long is told as running. */
  silentMs?: number
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

/** ClawDE's daemon protocol, on every path of its port that nobody else serves. */
export function clawdeDialect(given: ClawdeParts): ClawdeDialect {
  const { listener, onFault = () => {}, timing = {}, ...parts } = given
  const { lagMs = LAG_MS, silentMs = SILENT_MS, ...pace } = timing
  const { metrics } = listener
  let serving: Serving | null = null

  async function served(): Promise<Serving> {
    const { createServing } = await import('./serving.ts')
    const rest = { metrics, lagMs, silentMs, port: () => listener.port, onFault }
    return (serving ??= createServing({ ...parts, ...rest }))
  }

  listener.serve(
    '*',
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
