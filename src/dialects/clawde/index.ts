import { bundleOf, createBroadcast } from './broadcast.ts'
import { dispatcherOf, serveConnection, SEND_LIMIT } from './connection.ts'
import { CODES, rpcError } from './errors.ts'
import type { ClawdeListener } from './listener.ts'
import type { Services } from './method.ts'
import { METHODS } from './methods.ts'
import { pairFirst } from './methods/device.ts'
import type { RepoStatus } from './ports.ts'
import { repoView } from './repos.ts'
import type { WebSocketOptions } from '../../transports/websocket.ts'
import type { Stream } from './stream.ts'
import { createCounts } from './views.ts'

export { createClawdeListener } from './listener.ts'
export { clawdeSettings } from './settings.ts'

type Given =
  | 'engine'
  | 'settings'
  | 'version'
  | 'startedAt'
  | 'home'
  | 'dataDir'
  | 'cwd'
  | 'daemonId'
  | 'workspace'
  | 'devices'
  | 'resources'
  | 'updates'
  | 'providers'
  | 'examine'
  | 'newId'
  | 'isAdvertised'

export interface ClawdeParts extends Pick<Services, Given> {
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
  updateAvailable(update: { current: string; latest: string; notes: string }): void
}

/** ClawDE's daemon protocol, on every path of its port that nobody else serves. */
export function clawdeDialect(given: ClawdeParts): ClawdeDialect {
  const { listener, onFault = () => {}, timing = {}, ...parts } = given
  const { lagMs = LAG_MS, ...pace } = timing
  const { engine, home } = parts
  const streams = new Set<Stream>()
  const services: Services = {
    ...parts,
    metrics: listener.metrics,
    broadcast: createBroadcast(engine, onFault),
    counts: createCounts(engine),
    sending: new Set(),
    lagMs,
    port: () => listener.port,
    tell,
  }

  /** It has no place in the log; who has it has missed nothing up to now. */
  function tell(method: string, params: Record<string, unknown>, about = ''): void {
    const bundle = bundleOf([{ method, sessionId: null, seq: engine.head, params }])
    for (const stream of streams) stream.push(`${method} ${about}`, bundle)
  }

  const dispatch = dispatcherOf(METHODS, { home, onFault })

  listener.serve(
    '*',
    {
      code: CODES.unauthorized,
      beforehand: pairFirst(services, (thrown) => rpcError(thrown, home)),
      accept(connection, { device, params }) {
        const client = { device, unix: params['timestamps'] === 'unix' }
        const { stream, ...handler } = serveConnection(connection, services, client, dispatch)
        streams.add(stream)
        return {
          ...handler,
          closed() {
            streams.delete(stream)
            handler.closed?.()
          },
        }
      },
    },
    { sendLimit: SEND_LIMIT, ...pace },
  )

  return {
    repoChanged: (status) => tell('repo.statusChanged', repoView(status), status.root),
    // Notes come with the release, not from an address.
    updateAvailable: ({ current, latest, notes }) =>
      tell('daemon.updateAvailable', { current, latest, notes, releaseNotesUrl: '', policy: 'manual' }),
  }
}
