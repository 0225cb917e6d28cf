import { z } from 'zod'

type Fields = Record<string, unknown>
type Aliases = Readonly<Record<string, readonly string[]>>

/** A schema that takes parameters in any spelling; an empty array is none, and null is not given where it means nothing. */
export function anySpelling<P extends z.ZodType>(schema: P, aliases: Aliases = {}) {
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {}
  const nullable = Object.keys(shape).filter((name) => shape[name]!.safeParse(null).success)
  const meaning = new Set(nullable.flatMap((name) => [name, ...(aliases[name] ?? [])]))
  const known = (params: unknown): unknown => {
    const given = Array.isArray(params) && params.length === 0 ? {} : params
    return withAliases(withoutNulls(camelCased(given), meaning), aliases)
  }
  return z.preprocess(known, schema)
}

/** Parameters as the methods know them: `repo_path` is `repoPath`; what came in both spellings is as in ours. */
export function camelCased(params: unknown): unknown {
  if (!isFields(params)) return params
  const snake = Object.keys(params).filter((key) => key.includes('_'))
  if (snake.length === 0) return params
  const others = snake.map((key) => [camel(key), params[key]] as const)
  const rest = Object.entries(params).filter(([key]) => !key.includes('_'))
  return { ...Object.fromEntries(others), ...Object.fromEntries(rest) }
}

/** Many clients write null for what they leave out. */
function withoutNulls(params: unknown, meaning: ReadonlySet<string>): unknown {
  if (!isFields(params)) return params
  const isGiven = ([key, value]: [string, unknown]): boolean => value !== null || meaning.has(key)
  return Object.fromEntries(Object.entries(params).filter(isGiven))
}

/** Other names of a parameter, for when it is not given under its own. */
export function withAliases(params: unknown, aliases: Aliases): unknown {
  if (!isFields(params)) return params
  let known = params
  for (const [name, others] of Object.entries(aliases)) {
    const other = known[name] === undefined ? others.find((key) => known[key] !== undefined) : undefined
    if (other === undefined) continue
    const { [other]: value, ...rest } = known
    known = { ...rest, [name]: value }
  }
  return known
}

/** An answer in both spellings: half of the clients look for the one, half for the other. */
export function bothWays<T extends Fields>(fields: T): T & Fields {
  const twins: Fields = {}
  for (const [key, value] of Object.entries(fields)) {
    const other = snake(key)
    if (other !== key && fields[other] === undefined) twins[other] = value
  }
  return { ...fields, ...twins }
}

/** An answer without the second spellings, at any depth: as it is described. */
export function oneWay(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(oneWay)
  if (!isFields(value)) return value
  const isTwin = (key: string): boolean => camel(key) !== key && camel(key) in value
  const own = Object.entries(value).filter(([key]) => !isTwin(key))
  return Object.fromEntries(own.map(([key, field]) => [key, oneWay(field)]))
}

function camel(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Moments are texts within, and seconds on the wire unless somebody wants texts. What is in the input of a tool is not ours to change. */
export function unixTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unixTimes)
  if (!isFields(value)) return value
  const inUnix = (key: string, field: unknown): unknown =>
    isMoment(key, field) ? seconds(field) : key === 'input' ? field : unixTimes(field)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, inUnix(key, field)]))
}

function isMoment(key: string, value: unknown): value is string {
  return (key.endsWith('At') || key.endsWith('_at')) && typeof value === 'string'
}

function seconds(moment: string): number {
  return Math.floor(Date.parse(moment) / 1000)
}
