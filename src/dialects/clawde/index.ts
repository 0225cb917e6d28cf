import { onDemand } from '../../transports/on-demand.ts'
import type { WebSocketOptions } from '../../transports/websocket.ts'
import { CODES, rpcError } from './errors.ts'
import { SEND_LIMIT } from './limits.ts'
import type { ClawdeListener } from './listener.ts'
import type { RepoStatus } from './ports.ts'
import type { Serving, ServingParts, Update } from './serving.ts'

export { createClawdeListener } from './listener.ts'
export { clawdeSettings } from './settings.ts'

export interface ClawdeParts extends Omit<ServingParts, 'metrics' | 'lagMs' | 'port' | 'onFault'> {
  listener: ClawdeListener
  timing?: ClawdeTiming
  onFault?(error: unknown): void
}

export interface ClawdeTiming extends Pick<WebSocketOptions, 'admitMs' | 'pingMs'> {
  /** Who is behind for no longer than this was not slow. */
  lagMs?: number
}

/** A single large message fills what may be unsent, and is taken within a moment. */
const LAG_MS = 1000

export interface ClawdeDialect {
  /** The status of an open repository is another one now. */
  repoChanged(status: RepoStatus): void
  updateAvailable(update: Update): void
}

/** ClawDE's daemon protocol, on every path of its port that nobody else serves. */
export function clawdeDialect(given: ClawdeParts): ClawdeDialect {
  const { listener, onFault = () => {}, timing = {}, ...parts } = given
  const { lagMs = LAG_MS, ...pace } = timing
  const { metrics } = listener
  let serving: Serving | null = null

  async function served(): Promise<Serving> {
    const { createServing } = await import('./serving.ts')
    return (serving ??= createServing({ ...parts, metrics, lagMs, port: () => listener.port, onFault }))
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
