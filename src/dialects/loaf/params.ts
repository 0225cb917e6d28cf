import { z } from 'zod'
import { PROVIDERS } from './models.ts'

/*
 * Parameters as the protocol reads them: texts are trimmed, null is as good as absent, what is unknown is ignored. The messages are
 * those of the original.
 */

const NOT_EMPTY = 'must be a non-empty string'

export const text = z.string(NOT_EMPTY).trim().min(1, NOT_EMPTY)
export const flag = z.boolean('must be a boolean')
export const optionalText = z
  .string('must be a string')
  .trim()
  .nullish()
  .transform((value) => value || undefined)
export const optionalFlag = flag.nullish().transform((value) => value ?? undefined)
export const optionalNumber = z
  .number('must be a finite number')
  .nullish()
  .transform((value) => value ?? undefined)

export const sessionId = text.describe('of any session, open here or not')

/** Of a method that needs parameters. */
export function params<T extends z.core.$ZodShape>(shape: T): z.ZodObject<T> {
  return z.object(shape, 'expected object')
}

/** Of a method that may be called without any; an empty list has none. */
export function optionalParams<T extends z.core.$ZodShape>(shape: T) {
  const isNone = (given: unknown): boolean => Array.isArray(given) && given.length === 0
  return z.preprocess((given) => (isNone(given) ? {} : given), params(shape))
}

/** Of a method that reads none: whatever comes is taken. */
export const noParams = z.unknown()

const NO_PROVIDER = `must be one of ${PROVIDERS.join(', ')}`
const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value)
const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

export const provider = z.preprocess(
  trimmed,
  z.enum(PROVIDERS, { error: ({ input }) => (isText(input) ? NO_PROVIDER : NOT_EMPTY) }),
)

export const optionalProvider = z
  .preprocess(
    (value) => (value === null || trimmed(value) === '' ? undefined : trimmed(value)),
    z
      .enum(PROVIDERS, { error: ({ input }) => (isText(input) ? NO_PROVIDER : 'must be a string') })
      .optional(),
  )
  .optional()
