import type { IncomingMessage, ServerResponse } from 'node:http'
import type { About } from './about.ts'
import type { Calls } from './calls.ts'
import type { RelayEvents } from './events.ts'
import type { LicensePolicy } from './license.ts'
import type { Pool } from './pool.ts'
import type { Cascade } from './providers/cascade.ts'
import type { SessionRoutes } from './sessions/routes.ts'
import type { SettingsStore } from './settings.ts'
import type { Shape } from './shapes.ts'
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
  pool: Pool
  sessions: SessionRoutes
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
