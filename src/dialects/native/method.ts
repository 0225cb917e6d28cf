import type { z } from 'zod'
import type { DeviceAccess } from '../../access/devices.ts'
import type { Invitation } from '../../access/invitation.ts'
import type { Engine } from '../../core/api.ts'
import type { Device } from '../../core/devices.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { SignIn } from '../../core/signin.ts'
import type { OwnWorktree, WorktreeMaker } from '../../core/own-worktree.ts'
import type { RawJson, Streaming } from '../../transports/jsonrpc.ts'
import type { Method } from '../method.ts'
import type { Feed } from './feed.ts'
import type { AgentReport, Examination, MergeOutcome, Resources, Sample } from './wire.ts'

/** The process around the engine. */
export interface DaemonControl {
  readonly version: string
  readonly startedAt: number
  listeners(): Listener[]
  /** Agent processes now. */
  agents(): AgentsSummary
  /** Looks at itself and all around it. */
  examine(): Promise<Examination>
  /** What is used, now and the minutes before, the newest first. */
  readonly resources: { now(): Promise<Resources>; history(limit: number): Sample[] }
  /** Begins to stop, after answers that are due have gone out. */
  stop(options: { agents: 'end' | 'keep'; now: boolean }): void
}

export interface WorktreeEntry extends OwnWorktree {
  readonly id: string
  readonly base: string | null
}

/** Git worktrees of sessions. */
export interface Workspace extends WorktreeMaker {
  ownWorktree(id: string): Promise<WorktreeEntry | null>
  ownWorktrees(): Promise<WorktreeEntry[]>
  worktreeDiff(path: string, id: string): Promise<{ readonly text: string; readonly truncated: boolean }>
  mergeWorktree(path: string, id: string, message?: string): Promise<MergeOutcome>
}

export interface Listener {
  /** Of the dialect that it serves. */
  name: string
  /** A URL, or the path of a socket. */
  address: string
}

export interface AgentsSummary {
  running: number
  idle: number
  maxWarm: number
}

/** What a method has at hand. */
export interface Context {
  engine: Engine
  workspace: Workspace
  devices: DeviceAccess
  signin: SignIn
  /** Where a device goes with its PIN; null: nobody listens for devices. */
  invite(pin: string): Promise<Invitation | null>
  /** The device that is connected; null: the owner. */
  device: Device | null
  daemon: DaemonControl
  agents(): Promise<AgentReport[]>
  /** The subscriptions of this connection. */
  feed: Feed
}

type Answer<R extends z.ZodType> = z.output<R> | RawJson

export interface NativeMethod<N extends string, P extends z.ZodType, R extends z.ZodType> extends Method<
  Context,
  P,
  R,
  ErrorCode
> {
  name: N
  /** Events follow the answer. */
  streaming?: boolean
  handler(params: z.output<P>, context: Context): Answer<R> | Streaming<z.output<R>> | Promise<Answer<R>>
}

/** Only for the types. */
export function method<const N extends string, P extends z.ZodType, R extends z.ZodType>(
  descriptor: NativeMethod<N, P, R>,
): NativeMethod<N, P, R> {
  return descriptor
}
