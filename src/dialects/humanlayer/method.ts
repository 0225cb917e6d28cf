import type { z } from 'zod'
import type { Engine } from '../../core/api.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { Streaming } from '../../transports/jsonrpc.ts'
import type { Method } from '../method.ts'
import type { Subscriptions } from './subscription.ts'

/** What HumanLayer clients get when they do not say. */
export interface HumanLayerOptions {
  /** The agent that they launch. */
  agent: string
  /** Ask a human also where a client named no tool for it; otherwise what needs one is refused. */
  askAlways: boolean
  /** Where this daemon listens: told to the MCP servers of its sessions. */
  socket: string
  /** The user's home directory, for `~` in paths. */
  home: string
  /** The daemon's own working directory: where a session without one works. */
  cwd: string
  /** Reported by `health`. */
  version: string
}

/** What a method has at hand. */
export interface Context {
  readonly engine: Engine
  readonly options: HumanLayerOptions
  /** Those of this connection. */
  readonly subscriptions: Subscriptions
  /** Nothing more is read from this client; what is under way is still answered. */
  finish(): void
}

export interface HumanLayerMethod<
  P extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> extends Method<Context, P, R, ErrorName> {
  /** The answer can be large: few of them are made at a time. */
  readonly heavy?: true
  /** Its answer has no id, nor have the events that follow it. */
  readonly streaming?: true
  handler(params: z.output<P>, context: Context): z.output<R> | Streaming<z.output<R>> | Promise<z.output<R>>
}

/** Only for the types. */
export function method<P extends z.ZodType, R extends z.ZodType>(
  descriptor: HumanLayerMethod<P, R>,
): HumanLayerMethod<P, R> {
  return descriptor
}

/** Stable names of what is refused here, for programs; beside those of the core. */
export type RefusalCode =
  | 'invalid_params'
  | 'wrong_status'
  | 'too_many_subscriptions'
  | 'subscription_not_found'

export type ErrorName = RefusalCode | ErrorCode

interface RefusalData {
  code: ErrorName
  /** What is wrong. */
  field?: string
}

/** A refusal in this protocol's own words. */
export class HumanLayerError extends Error {
  readonly data: RefusalData

  constructor(message: string, data: RefusalData) {
    super(message)
    this.name = 'HumanLayerError'
    this.data = data
  }
}
