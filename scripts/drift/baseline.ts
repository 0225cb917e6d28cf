import type { Observations } from './observed.ts'
import type { Fields } from './shape.ts'

/**
 * What is known of an agent. A name that ends with `?` (of a type, or of a field) is of something that does not come
 * in every run, or that only a recording has.
 */
export interface Baseline {
  version: string
  /** How the scripted turns ended. */
  turns: Record<string, string>
  /** For each type of message `field: kind|kind`. */
  types: Record<string, string[]>
}

/** What one run, or a recording, has shown. */
export interface Showing {
  version: string
  turns: Record<string, string>
  seen: Observations
}

export interface Known {
  fields: Fields
  /** Fields that came in every run. */
  steady: Set<string>
  /** Whether the type itself came in every run. */
  always: boolean
}

/** Several runs of one version, and what has been seen of it elsewhere; `unsteady` types are never missed. */
export function baselineOf(
  runs: Showing[],
  elsewhere: Map<string, Fields>,
  unsteady: readonly string[] = [],
): Baseline {
  const [first] = runs
  if (!first) throw new Error('a baseline needs a run')
  const names = [...new Set([...runs.flatMap(({ seen }) => [...seen.keys()]), ...elsewhere.keys()])].sort()
  const types = names.map((name): [string, string[]] => {
    const shown = runs.map(({ seen }) => seen.get(name)?.fields)
    const all = [...shown, elsewhere.get(name)]
    const always = !unsteady.includes(name) && shown.every((fields) => fields !== undefined)
    const paths = [...new Set(all.flatMap((fields) => [...(fields?.keys() ?? [])]))].sort()
    const lines = paths.map((path) => {
      const kinds = new Set(all.flatMap((fields) => [...(fields?.get(path) ?? [])]))
      const steady = always && shown.every((fields) => fields!.has(path))
      return `${path}${steady ? '' : '?'}: ${[...kinds].sort().join('|')}`
    })
    return [`${name}${always ? '' : '?'}`, lines]
  })
  return { version: first.version, turns: first.turns, types: Object.fromEntries(types) }
}

export function knownIn({ types }: Baseline): Map<string, Known> {
  return new Map(Object.entries(types).map(([name, lines]) => [bare(name), readType(name, lines)]))
}

function readType(name: string, lines: string[]): Known {
  const known: Known = { fields: new Map(), steady: new Set(), always: !name.endsWith('?') }
  for (const line of lines) {
    const colon = line.lastIndexOf(': ')
    const [path, kinds] = [line.slice(0, colon), line.slice(colon + 2)]
    known.fields.set(bare(path), new Set(kinds.split('|')))
    if (!path.endsWith('?')) known.steady.add(path)
  }
  return known
}

function bare(name: string): string {
  return name.replace(/\?$/, '')
}
