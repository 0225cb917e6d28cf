import type { JsonObject } from '../ask.ts'
import { invalid, type RelayFailure } from '../failure.ts'

/** No honest schema or tool input comes near this; beyond some thousands, writing it as JSON again would fail. */
const MAX_DEPTH = 100

/** A value in a request body and where it stands there, so that a refusal can name the place. */
export class Field {
  readonly value: unknown
  readonly path: string

  constructor(value: unknown, path = '') {
    this.value = value
    this.path = path
  }

  /** SDKs write null for what their user left out. */
  get given(): boolean {
    return this.value !== undefined && this.value !== null
  }

  /** Reads it if there is something; undefined if not. */
  maybe<T>(read: (field: Field) => T): T | undefined {
    return this.given ? read(this) : undefined
  }

  at(key: string): Field {
    const { value } = this
    const within = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
    return new Field(within, this.below(key))
  }

  /** A part of this value, or what was made of it, in the same place. */
  as(value: unknown): Field {
    return new Field(value, this.path)
  }

  text(): string {
    if (typeof this.value !== 'string') throw this.mismatch('a string')
    return this.value
  }

  filled(max = Infinity): string {
    const text = this.text()
    if (text === '') throw this.wrong('must not be empty')
    if (text.length > max) throw this.wrong(`must not be longer than ${max} characters`)
    return text
  }

  /** What is not said is not wanted. */
  flag(): boolean {
    if (!this.given) return false
    if (typeof this.value !== 'boolean') throw this.mismatch('true or false')
    return this.value
  }

  number(min: number, max = Infinity): number {
    const { value } = this
    if (typeof value !== 'number') throw this.mismatch('a number')
    if (value < min || value > max) throw this.wrong(`must be ${range(min, max)}`)
    return value
  }

  integer(min: number): number {
    const { value } = this
    if (value !== undefined && !Number.isSafeInteger(value)) throw this.wrong('must be a whole number')
    return this.number(min)
  }

  object(): JsonObject {
    if (!isObject(this.value)) throw this.mismatch('an object')
    return this.value
  }

  items(max: number): Field[] {
    if (!Array.isArray(this.value)) throw this.mismatch('a list')
    if (this.value.length > max) throw this.wrong(`must not have more than ${max} entries`)
    return this.value.map((item, index) => new Field(item, this.below(index)))
  }

  oneOf<T extends string>(...words: readonly T[]): T {
    const text = this.text()
    const word = words.find((known) => known === text)
    if (word === undefined) throw this.wrong(`must be ${words.map((known) => `\`${known}\``).join(' or ')}`)
    return word
  }

  /** The problem, in words that follow the name of the place. */
  wrong(problem: string): RelayFailure {
    return invalid(this.path, this.path === '' ? `it ${problem}` : `\`${this.path}\` ${problem}`)
  }

  private mismatch(expected: string): RelayFailure {
    if (this.value === undefined) return invalid(this.path, `missing field \`${this.path}\``)
    return this.wrong(`must be ${expected}`)
  }

  private below(key: string | number): string {
    return this.path === '' ? String(key) : `${this.path}.${key}`
  }
}

export type Body = Field & { readonly value: JsonObject }

/** A request body: an object, and not nested without end. */
export function bodyOf(value: unknown): Body {
  const body = new Field(value)
  if (!isObject(value)) throw body.wrong('must be a JSON object')
  checkDepth(body)
  return body as Body
}

export function checkDepth(field: Field): void {
  if (deeperThan(field.value, MAX_DEPTH))
    throw field.wrong(`must not be nested deeper than ${MAX_DEPTH} levels`)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => deeperThan(inner, levels - 1))
}

function range(min: number, max: number): string {
  return max === Infinity ? `at least ${min}` : `between ${min} and ${max}`
}
