import { isObject, type JsonObject } from '../../src/agents/json.ts'

/**
 * The shape of a line: the path of every value in it, and of what kind the value is. `a.b` is a field of a field, `a[]` an
 * element of a list, `a<x>` an object that calls itself `x`, `a.*` a field whose name is data.
 */
export type Fields = Map<string, Set<string>>

/** Fields in which an object says what it is. */
const TAGS = ['type', 'subtype', 'sessionUpdate'] as const
/** Fields whose values are words of the protocol: a new word is as good as a new field. */
const WORDS: ReadonlySet<string> = new Set([
  'kind',
  'phase',
  'state',
  'status',
  'stopReason',
  'stop_reason',
  'terminal_reason',
])
const WORD = /^[A-Za-z][\w/-]{0,60}$/
const NAME = /^[$_]?[A-Za-z][A-Za-z0-9_]*$/
const MANY_DIGITS = /\d\D*\d\D*\d/

export function shapeOf(line: unknown): Fields {
  const fields: Fields = new Map()
  collect(line, '', '', fields)
  return fields
}

function collect(value: unknown, path: string, key: string, fields: Fields): void {
  if (Array.isArray(value)) {
    if (value.length === 0) note(fields, path, '[]')
    for (const one of value) collect(one, `${path}[]`, '', fields)
  } else if (isObject(value)) {
    const here = tagged(path, value)
    const entries = Object.entries(value).filter(([name, inner]) => !isTag(name, inner))
    if (entries.length === 0) note(fields, here, '{}')
    for (const [name, inner] of entries) collect(inner, fieldPath(here, name), name, fields)
  } else note(fields, path, kindOf(value, key))
}

function note(fields: Fields, path: string, kind: string): void {
  const kinds = fields.get(path)
  if (kinds) kinds.add(kind)
  else fields.set(path, new Set([kind]))
}

function kindOf(value: unknown, key: string): string {
  if (typeof value !== 'string') return value === null ? 'null' : typeof value
  return WORDS.has(key) && WORD.test(value) ? `'${value}'` : 'string'
}

function isTag(name: string, value: unknown): boolean {
  return (TAGS as readonly string[]).includes(name) && typeof value === 'string' && WORD.test(value)
}

function tagged(path: string, value: JsonObject): string {
  const tags = TAGS.filter((name) => isTag(name, value[name])).map((name) => String(value[name]))
  return tags.length === 0 || path === '' ? path : `${path}<${tags.join(' ')}>`
}

/** Ids, versions, paths and names of models are data; words are names. */
function fieldPath(path: string, name: string): string {
  const known = NAME.test(name) && !MANY_DIGITS.test(name) ? name : '*'
  return path === '' ? known : `${path}.${known}`
}

/** The line without what is found at a path. */
export function without(line: unknown, target: string): unknown {
  return pruned(line, '', target)
}

function pruned(value: unknown, path: string, target: string): unknown {
  if (Array.isArray(value)) {
    const inside = `${path}[]`
    return value
      .filter((one) => inside !== target && spelled(one, inside) !== target)
      .map((one) => pruned(one, inside, target))
  }
  if (!isObject(value)) return value
  const here = tagged(path, value)
  const rest: JsonObject = {}
  for (const [name, inner] of Object.entries(value)) {
    const at = fieldPath(here, name)
    if (at !== target && spelled(inner, at) !== target) rest[name] = pruned(inner, at, target)
  }
  return rest
}

function spelled(value: unknown, path: string): string {
  return isObject(value) ? tagged(path, value) : path
}

/** The path itself and everything that it lies in, the outermost first. */
export function stages(path: string): string[] {
  const ends = Array.from(path.matchAll(/(?<=.)(?=\.|\[\]|<)|$/g), ({ index }) => index)
  return ends.map((end) => path.slice(0, end))
}
