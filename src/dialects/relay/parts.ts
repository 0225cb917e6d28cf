import type { IncomingMessage, ServerResponse } from 'node:http'
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
  health(): object
  version(): Promise<object>
  availability(): Promise<object>
  /** Ids of the models that answers may be asked of. */
  models(): string[]
  bodyLimit: number
  now: () => number
  newId: () => string
  onFault: (error: unknown) => void
}
