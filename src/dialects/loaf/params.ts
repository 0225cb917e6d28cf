import { invalidParams } from './errors.ts'

/** Reads parameters as the protocol has it: strings are trimmed, null is as good as absent, what is unknown is ignored. */
export interface Params {
  readonly all: Readonly<Record<string, unknown>>
  text(field: string): string
  optionalText(field: string): string | undefined
  flag(field: string): boolean
  optionalFlag(field: string): boolean | undefined
  optionalNumber(field: string): number | undefined
}

/** For methods that may be called without parameters; an empty list has none. */
export function optionalParams(method: string, params: unknown): Params {
  const isEmpty = Array.isArray(params) && params.length === 0
  return paramsOf(method, isEmpty ? {} : (params ?? {}))
}

export function paramsOf(method: string, params: unknown): Params {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    throw invalidParams(method, 'expected object')
  }
  const all = params as Record<string, unknown>
  const isAbsent = (field: string): boolean => all[field] === undefined || all[field] === null

  function flag(field: string): boolean {
    const value = all[field]
    if (typeof value !== 'boolean') throw invalidParams(method, 'must be a boolean', field)
    return value
  }

  function optionalText(field: string): string | undefined {
    if (isAbsent(field)) return undefined
    const value = all[field]
    if (typeof value !== 'string') throw invalidParams(method, 'must be a string', field)
    return value.trim() || undefined
  }

  return {
    all,
    flag,
    optionalText,
    text(field) {
      const value = all[field]
      if (typeof value !== 'string' || value.trim() === '') {
        throw invalidParams(method, 'must be a non-empty string', field)
      }
      return value.trim()
    },
    optionalFlag: (field) => (isAbsent(field) ? undefined : flag(field)),
    optionalNumber(field) {
      if (isAbsent(field)) return undefined
      const value = all[field]
      if (typeof value !== 'number' || !Number.isFinite(value)) {
        throw invalidParams(method, 'must be a finite number', field)
      }
      return value
    },
  }
}
