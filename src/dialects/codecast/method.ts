import type { ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { Engine } from '../../core/api.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { RawJson } from '../../transports/jsonrpc.ts'
import type { DialectLog } from '../dialect.ts'
import type { Method } from '../method.ts'
import type { Bookmarks } from './bookmarks.ts'
import type { Sender } from './stream.ts'
import type { Versions } from './views.ts'

/** What all requests share. */
export interface Services {
  readonly engine: Engine
  readonly bookmarks: Bookmarks
  readonly sender: Sender
  readonly log: DialectLog
  /** The user's home directory: `~`. */
  readonly home: string
  readonly startedAt: number
  readonly versions: Versions
}

/** What a method has at hand. */
export interface Context extends Services {
  readonly res: ServerResponse
  /** To be done once the answer has left in full. */
  onDelivered(action: () => void): void
}

export interface CodecastMethod<
  P extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> extends Method<Context, P, R, ErrorCode> {
  /** It answers by itself, with server-sent events; its result is null. */
  readonly streaming?: true
  handler(params: z.output<P>, context: Context): z.output<R> | RawJson | Promise<z.output<R> | RawJson>
}

/** Only for the types. */
export function method<P extends z.ZodType, R extends z.ZodType>(
  descriptor: CodecastMethod<P, R>,
): CodecastMethod<P, R> {
  return descriptor
}
