import type { z } from 'zod'
import type { DeviceAccess } from '../../access/devices.ts'
import type { Engine } from '../../core/api.ts'
import type { Device } from '../../core/devices.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { SignIn } from '../../core/signin.ts'
import type { RawJson, Streaming } from '../../transports/jsonrpc.ts'
import type { FrontDoor } from '../dialect.ts'
import type { Method } from '../method.ts'
import type { AgentReport, Daemon, Machines, RelayPlace, Workspace } from '../ports.ts'
import type { Feed } from './feed.ts'
import type { Invitations } from './invitations.ts'
import type { Watches } from './watches.ts'

/** What a method has at hand. */
export interface Context {
  engine: Engine
  workspace: Workspace
  devices: DeviceAccess
  signin: SignIn
  relay: RelayPlace
  door: Pick<FrontDoor, 'code'>
  /** Where a device goes with its PIN. */
  invite(pin: string): Promise<Invitations>
  /** The device that is connected; null: the owner. */
  device: Device | null
  daemon: Daemon
  machines: Machines
  /** Calls another method, for a device or (null) the owner; null: that cannot be called so. */
  call(name: string, params: unknown, device: Device | null): Promise<unknown>
  agents(): Promise<AgentReport[]>
  /** Does this when the connection has ended. */
  whenClosed(work: () => void): void
  /** The subscriptions of this connection. */
  feed: Feed
  /** The lists of sessions that it watches. */
  watches: Watches
}

type Result<R extends z.ZodType> = z.output<R> | RawJson
type Answer<R extends z.ZodType> = Result<R> | Streaming<Result<R>>

export interface NativeMethod<N extends string, P extends z.ZodType, R extends z.ZodType> extends Method<
  Context,
  P,
  R,
  ErrorCode
> {
  name: N
  /** Notifications of this name follow the answer. */
  streaming?: string
  handler(params: z.output<P>, context: Context): Answer<R> | Promise<Answer<R>>
}

/** Only for the types. */
export function method<const N extends string, P extends z.ZodType, R extends z.ZodType>(
  descriptor: NativeMethod<N, P, R>,
): NativeMethod<N, P, R> {
  return descriptor
}
