import { type FailureKind, RelayFailure } from '../../relay/failure.ts'
import { openRelay, type Relay } from '../../relay/relay.ts'
import type { HttpApp, HttpAppOptions } from '../../transports/http.ts'
import { activityFeed, eventFeed } from './feeds.ts'
import type { RelayOptions } from './open.ts'
import { pathIn } from './paths.ts'
import { sendFailure } from './response.ts'
import { addRoutes } from './routes.ts'

/** The relay behind its listener, once somebody has come. */
export interface Mounted {
  readonly relay: Relay
  /** Answers what no route does. */
  refuse: NonNullable<HttpAppOptions['refuse']>
  /** Ends what goes on by itself. */
  stop(): void
  /** Resolves when all is written down. */
  flushed(): Promise<void>
}

const PING_MS = 15_000

/** Opens the relay, and serves both of its dialects and its own routes. */
export async function mountRelay(app: HttpApp, port: () => number, options: RelayOptions): Promise<Mounted> {
  const relay = await openRelay(options)
  const activity = activityFeed(relay.calls.ring)
  const events = eventFeed(relay.events.ring, { keepAliveMs: PING_MS })
  addRoutes(app, { ...options, relay, activity, events, port, pingMs: PING_MS })
  return {
    relay,
    refuse(req, res, { status, message }) {
      const kind = REFUSALS[status] ?? 'invalid_request_error'
      const asked = `${req.method} ${pathIn(req.url)}`
      const text = message || `${status === 404 ? 'No such route' : 'Not allowed'}: ${asked}`
      sendFailure(req, res, new RelayFailure(status, kind, text), options.newId())
    },
    stop() {
      activity.close()
      events.close()
      relay.close()
    },
    flushed: relay.calls.flushed,
  }
}

const REFUSALS: Readonly<Record<number, FailureKind>> = {
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
}
