import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { Device } from '../core/devices.ts'
import { RawJson, Streaming } from '../transports/jsonrpc.ts'

/** Who may call a method: `read` shows something, `use` works with sessions, `manage` changes what holds for everybody. */
export type Scope = 'read' | 'use' | 'manage'

/**
 * Whether a call may be made again when its answer was lost: `read` changes nothing, `idempotent` changes nothing the second time,
 * `keyed` neither where it has a `key` or an `id` of the caller's own, `aimed` neither where it says at which turn. `never`: the
 * caller has to look first.
 */
export type Repeat = 'read' | 'idempotent' | 'keyed' | 'aimed' | 'never'

/** One operation of a protocol, as data: the dispatcher, the documentation and the tests are made from it. */
export interface Method<
  C,
  P extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  E extends string = string,
> {
  readonly name: string
  readonly summary: string
  readonly scope: Scope
  readonly repeat: Repeat
  readonly params: P
  readonly result: R
  /** The errors that it may end with, by their names in this protocol, beside those that any method may end with. */
  readonly errors: readonly E[]
  handler(params: z.output<P>, context: C): unknown
}

type Named = Pick<Method<never>, 'name' | 'scope' | 'result' | 'errors'>

/** The owner (null) may call everything, a device what its scopes say. */
export function isAllowed({ scope }: Named, device: Device | null): boolean {
  return device === null || scope !== 'manage' || device.scopes.includes('manage')
}

export interface Verifier {
  verifyResult(method: Named, value: unknown): void
  verifyError(method: Named, thrown: unknown): unknown
}

/**
 * What a dispatcher checks in tests, always: that every result and every error is as its descriptor says. Nobody else pays for it.
 * `nameOf` is the name of an error in this protocol; `always` are those that any method may end with. `described` leaves out of a
 * result what no schema names, such as fields that are there in a second spelling.
 */
export function verifying(
  nameOf: (thrown: unknown) => string,
  always: readonly string[],
  described: (result: unknown) => unknown = (result) => result,
): Partial<Verifier> {
  if (process.env['CORRAL_VERIFY'] !== '1') return {}
  return {
    verifyResult: (method, value) => verifyResult(method, value, described),
    verifyError({ name, errors }, thrown) {
      const code = nameOf(thrown)
      if (errors.includes(code) || always.includes(code)) return thrown
      return undocumented(name, `it ended with ${code}, which is not among its errors (${String(thrown)})`)
    },
  }
}

/** Throws when a result is not what the schema says, field by field: nothing missing, nothing that is not documented. */
function verifyResult(
  { name, result }: Named,
  value: unknown,
  described: (result: unknown) => unknown,
): void {
  const given = plain(value instanceof Streaming ? value.result : value)
  const { success, data, error } = result.safeParse(given)
  const problems = error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  if (!success) throw undocumented(name, problems!.join('; '))
  if (!isDeepStrictEqual(described(plain(data)), described(given))) {
    throw undocumented(
      name,
      `it has fields that are not in its schema: ${JSON.stringify(given).slice(0, 500)}`,
    )
  }
}

function undocumented(name: string, problem: string): Error {
  return new Error(`${name} is not as documented: ${problem}`)
}

function plain(value: unknown): unknown {
  return JSON.parse(value instanceof RawJson ? value.json : (JSON.stringify(value) ?? 'null'))
}
