import type { WebSocketConnection } from '../../transports/websocket.ts'
import type { Visitor } from '../../access/first-message.ts'
import type { LineHandler } from '../../transports/connection.ts'
import { bundleOf, createBroadcast } from './broadcast.ts'
import { dispatcherOf, serveConnection } from './connection.ts'
import { createCounts } from './counts.ts'
import type { Services } from './method.ts'
import { METHODS } from './methods.ts'
import { pairing } from './methods/device.ts'
import type { RepoStatus } from '../ports.ts'
import { repoView } from './repos.ts'
import type { Stream } from './stream.ts'

type Made = 'broadcast' | 'counts' | 'tell'

export interface ServingParts extends Omit<Services, Made> {
  /** How long a session is silent before a call is taken for one that nobody is asked about. */
  silentMs: number
  onFault(error: unknown): void
}

/** All of the protocol; loaded when there is a client. */
export interface Serving {
  accept(connection: WebSocketConnection, visitor: Visitor): LineHandler
  /** `device.pair`, of somebody who has no token. */
  pair(params: unknown): Promise<object>
  repoChanged(status: RepoStatus): void
  updateAvailable(update: Update): void
}

export interface Update {
  current: string
  latest: string
  notes: string
}

export function createServing({ onFault, silentMs, ...parts }: ServingParts): Serving {
  const { engine, home } = parts
  const streams = new Set<Stream>()
  const services: Services = {
    ...parts,
    broadcast: createBroadcast({ engine, silentMs, onFault }),
    counts: createCounts(engine),
    tell,
  }
  const dispatch = dispatcherOf(METHODS, { home, onFault })

  /** It has no place in the log; who has it has missed nothing up to now. */
  function tell(method: string, params: Record<string, unknown>, about = ''): void {
    const bundle = bundleOf([{ method, sessionId: null, seq: engine.events.head, params }])
    for (const stream of streams) stream.push(`${method} ${about}`, bundle)
  }

  return {
    accept(connection, { device, params, program }) {
      const { timestamps } = params
      const client = { device, unix: timestamps === 'unix' || (timestamps !== 'iso' && !readsTexts(program)) }
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
    pair: (params) => pairing(params, services),
    repoChanged: (status) => tell('repo.statusChanged', repoView(status), status.root),
    // Notes come with the release, not from an address.
    updateAvailable: ({ current, latest, notes }) =>
      tell('daemon.updateAvailable', { current, latest, notes, releaseNotesUrl: '', policy: 'manual' }),
  }
}

/** ClawDE's own applications are written in Dart, and read moments as texts; the protocol has them as numbers. */
function readsTexts(program: string): boolean {
  return program.startsWith('Dart/')
}
