import type { z } from 'zod'
import type { Streaming } from '../../transports/jsonrpc.ts'
import type { Method } from '../method.ts'
import type { Choices } from './choices.ts'
import type { ErrorName } from './errors.ts'
import type { OpenSessions } from './open-sessions.ts'
import type { Output } from './output.ts'
import type { Corral, Memory, SignIn } from './ports.ts'

/** What methods have at hand. */
export interface Context {
  corral: Corral
  signIn: SignIn
  memory: Memory
  output: Output
  sessions: OpenSessions
  choices: Choices
  /** Where the client has started this process, and whose it is. */
  cwd: string
  home: string
  newId(): string
  now(): number
  debug: { on: boolean }
  /** Requests that wait for a human. */
  waits: { signIns: number }
  /** Nothing more is taken from now on. */
  refuseNew(): void
  /** Ends the process in order, when the answer is out. */
  end(): void
}

type Result<R extends z.ZodType> = z.output<R> | Streaming<z.output<R>>

export interface LoafMethod<P extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> extends Method<
  Context,
  P,
  R,
  ErrorName
> {
  /** The original does not have it. */
  extension?: true
  handler(params: z.output<P>, context: Context): Result<R> | Promise<Result<R>>
}

/** Only for the types. */
export function method<P extends z.ZodType, R extends z.ZodType>(
  descriptor: LoafMethod<P, R>,
): LoafMethod<P, R> {
  return descriptor
}
