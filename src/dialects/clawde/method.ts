import type { z } from 'zod'
import type { DeviceAccess } from '../../access/devices.ts'
import type { Engine } from '../../core/api.ts'
import type { Device } from '../../core/devices.ts'
import type { Method } from '../method.ts'
import type { Broadcast } from './broadcast.ts'
import type { Counts } from './counts.ts'
import type { CodeName } from './errors.ts'
import type { Metrics } from './metrics.ts'
import type { Finding, ProviderReport, Resources, Updates, Workspace } from '../ports.ts'
import type { ClawdeSettings } from './settings.ts'
import type { Stream } from './stream.ts'

/** What all connections share. */
export interface Services {
  readonly engine: Engine
  readonly settings: ClawdeSettings
  readonly version: string
  readonly startedAt: number
  /** The user's home directory. */
  readonly home: string
  /** Corral's own directory: no session works in there. */
  readonly dataDir: string
  /** Where a session without a directory works. */
  readonly cwd: string
  readonly daemonId: string
  readonly workspace: Workspace
  readonly devices: DeviceAccess
  readonly resources: Resources
  readonly updates: Updates
  readonly counts: Counts
  readonly broadcast: Broadcast
  readonly metrics: Metrics
  /** Who is behind for no longer than this was not slow, and is not told. */
  readonly lagMs: number
  /** Milliseconds since some moment; never goes back. */
  now(): number
  port(): number
  providers(): Promise<readonly ProviderReport[]>
  examine(): Promise<readonly Finding[]>
  newId(): string
  /** Whether neighbours in the network are told of this daemon. */
  isAdvertised(): boolean
  /** Tells everybody something that is not in the log. */
  tell(method: string, params: Record<string, unknown>): void
}

/** What a method has at hand. */
export interface Context extends Services {
  /** The pushes of this connection. */
  readonly stream: Stream
  /** The device that is connected; null: whoever has the daemon's own token. */
  readonly device: Device | null
}

export interface ClawdeMethod<P extends z.ZodType = z.ZodType> extends Method<
  Context,
  P,
  z.ZodType,
  CodeName
> {
  /** Other names of the method. */
  also?: readonly string[]
  /** Other names of parameters. */
  aliases?: Readonly<Record<string, readonly string[]>>
  /** It causes pushes: the caller gets its answer before them. */
  changes?: true
  /** The answer can be large: one at a time for each connection. */
  heavy?: true
}

/** Only for the types. */
export function method<P extends z.ZodType>(descriptor: ClawdeMethod<P>): ClawdeMethod<P> {
  return descriptor
}
