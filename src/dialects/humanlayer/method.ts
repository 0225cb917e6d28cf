import type { z } from 'zod'
import type { Engine } from '../../core/api.ts'
import type { ErrorCode } from '../../core/error.ts'

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

export interface Context {
  engine: Engine
  options: HumanLayerOptions
}

/** One operation, as data. */
export interface HumanLayerMethod<P extends z.ZodType = z.ZodType> {
  name: string
  params: P
  /** The answer can be large: few of them are made at a time. */
  heavy?: true
  handler(params: z.output<P>, context: Context): unknown
}

/** Only for the types. */
export function method<P extends z.ZodType>(descriptor: HumanLayerMethod<P>): HumanLayerMethod<P> {
  return descriptor
}

/** Stable names of what is refused here, for programs; beside those of the core. */
export type RefusalCode =
  | 'invalid_params'
  | 'wrong_status'
  | 'too_many_subscriptions'
  | 'subscription_not_found'

interface RefusalData {
  code: RefusalCode | ErrorCode
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
