import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../ask.ts'
import { isObject } from '../reading/fields.ts'

/**
 * Schemas may refer to themselves, also several times at once, and everybody waits while one is looked at. Beyond this depth
 * and this many steps, what is left is taken to be right.
 */
const MAX_DEPTH = 100
const MAX_STEPS = 100_000
const MAX_PROBLEMS = 10
/** The model has the schema: a long list of choices need not be told again. */
const MAX_SHOWN = 500

/**
 * What is wrong with a value by a JSON Schema, in words that a model understands. Types, fields, lists, choices and bounds
 * are looked at. What is not known here is no problem, and neither are patterns: one that a program has written badly
 * could hold up everybody.
 */
export function problemsIn(value: unknown, schema: unknown): string[] {
  return check(value, schema, { root: schema, path: '', depth: 0, steps: { left: MAX_STEPS } }).slice(
    0,
    MAX_PROBLEMS,
  )
}

interface Position {
  root: unknown
  path: string
  depth: number
  /** One count for all positions. */
  steps: { left: number }
}

type Rule = (value: unknown, schema: JsonObject, position: Position) => string[]

const RULES: readonly Rule[] = [types, choices, combinations, fields, items, bounds]

function check(value: unknown, schema: unknown, position: Position): string[] {
  if (schema === false) return [problem(position, 'is not allowed')]
  if (!isObject(schema) || position.depth > MAX_DEPTH || position.steps.left-- <= 0) return []
  const within = { ...position, depth: position.depth + 1 }
  const { $ref: ref } = schema
  const referred = typeof ref === 'string' ? check(value, resolve(position.root, ref), within) : []
  return [...referred, ...RULES.flatMap((rule) => rule(value, schema, within))]
}

function types(value: unknown, { type, nullable }: JsonObject, position: Position): string[] {
  if (type === undefined || (nullable === true && value === null)) return []
  const names = Array.isArray(type) ? type : [type]
  return names.some((name) => isOf(value, name)) ? [] : [problem(position, `must be ${names.join(' or ')}`)]
}

function isOf(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
    default:
      return true
  }
}

function choices(value: unknown, schema: JsonObject, position: Position): string[] {
  if ('const' in schema && !isDeepStrictEqual(value, schema['const'])) {
    return [problem(position, `must be ${shown(schema['const'])}`)]
  }
  const { enum: list } = schema
  if (!Array.isArray(list)) return []
  position.steps.left -= list.length
  if (position.steps.left < 0 || list.some((one) => isDeepStrictEqual(value, one))) return []
  return [problem(position, `must be one of ${shown(list)}`)]
}

function shown(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN)}…` : json
}

function combinations(value: unknown, schema: JsonObject, position: Position): string[] {
  const { allOf, anyOf, oneOf } = schema
  const all = Array.isArray(allOf) ? allOf.flatMap((one) => check(value, one, position)) : []
  return [
    ...all,
    ...[anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? anyIn(value, list, position) : [])),
  ]
}

/** The problems with the alternative that comes nearest. */
function anyIn(value: unknown, list: readonly unknown[], position: Position): string[] {
  const each = list.map((one) => check(value, one, position)).sort((a, b) => a.length - b.length)
  return each[0] ?? []
}

function fields(value: unknown, schema: JsonObject, position: Position): string[] {
  if (!isObject(value)) return []
  const { required, additionalProperties: more } = schema
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const missing = (Array.isArray(required) ? required : []).filter(
    (name) => typeof name === 'string' && !Object.hasOwn(value, name),
  )
  const others = schema['patternProperties'] === undefined ? more : undefined
  return [
    ...missing.map((name) => problem(position, `lacks the field \`${name}\``)),
    ...Object.entries(value).flatMap(([name, inner]) =>
      check(inner, Object.hasOwn(properties, name) ? properties[name] : others, below(position, name)),
    ),
  ]
}

function items(value: unknown, schema: JsonObject, position: Position): string[] {
  if (!Array.isArray(value)) return []
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []
  return value.flatMap((inner, at) =>
    check(inner, at < first.length ? first[at] : schema['items'], below(position, at)),
  )
}

const sizeOf = {
  number: ['minimum', 'maximum', 'value'],
  string: ['minLength', 'maxLength', 'length'],
  array: ['minItems', 'maxItems', 'number of entries'],
} as const

function bounds(value: unknown, schema: JsonObject, position: Position): string[] {
  if (typeof value === 'number')
    return [...within(value, schema, position, 'number'), ...beyond(value, schema, position)]
  if (typeof value === 'string') return within(Array.from(value).length, schema, position, 'string')
  return Array.isArray(value) ? within(value.length, schema, position, 'array') : []
}

function within(size: number, schema: JsonObject, position: Position, kind: keyof typeof sizeOf): string[] {
  const [least, most, what] = sizeOf[kind]
  const { [least]: min, [most]: max } = schema
  if (typeof min === 'number' && size < min) return [problem(position, `has a ${what} below ${min}`)]
  if (typeof max === 'number' && size > max) return [problem(position, `has a ${what} above ${max}`)]
  return []
}

function beyond(value: number, schema: JsonObject, position: Position): string[] {
  const { exclusiveMinimum: min, exclusiveMaximum: max } = schema
  if (typeof min === 'number' && value <= min) return [problem(position, `must be above ${min}`)]
  if (typeof max === 'number' && value >= max) return [problem(position, `must be below ${max}`)]
  return []
}

/** Only within the schema itself: `#/$defs/name`. */
function resolve(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined
  const names = ref.slice(1).split('/').slice(1)
  return names.reduce<unknown>((found, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof found === 'object' && found !== null && Object.hasOwn(found, key)
      ? (found as JsonObject)[key]
      : undefined
  }, root)
}

function below(position: Position, key: string | number): Position {
  return { ...position, path: position.path === '' ? String(key) : `${position.path}.${key}` }
}

function problem({ path }: Position, what: string): string {
  return path === '' ? `it ${what}` : `\`${path}\` ${what}`
}
