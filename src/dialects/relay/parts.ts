import type { IncomingMessage, ServerResponse } from 'node:http'
import type { About } from './about.ts'
import type { Calls } from '../../relay/records/calls.ts'
import type { RelayEvents } from '../../relay/records/events.ts'
import type { LicensePolicy } from '../../relay/license/license.ts'
import type { Pool } from '../../relay/pool.ts'
import type { Cascade } from '../../relay/providers/cascade.ts'
import type { NamedSessions } from '../../relay/sessions/named.ts'
import type { SettingsStore } from '../../relay/settings/settings.ts'
import type { Shape } from '../../relay/shape.ts'
import type { Feed } from './sse-feed.ts'

/** All that the routes need. */
export interface RelayParts {
  about: About
  cascade: Cascade
  license: LicensePolicy
  settings: SettingsStore
  /** Patches them, and what depends on them follows. */
  changeSettings(body: unknown): Promise<void>
  calls: Calls
  activity: Feed
  events: RelayEvents
  eventStream: Feed
  pool: Pool
  sessions: NamedSessions
  serve(
    request: { req: IncomingMessage; res: ServerResponse },
    shape: Shape,
    read: (req: IncomingMessage) => Promise<unknown>,
  ): Promise<void>
  bodyLimit: number
  now: () => number
  newId: () => string
  onFault: (error: unknown) => void
}
