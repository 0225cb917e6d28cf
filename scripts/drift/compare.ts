import type { Translator } from '../../src/agents/agent.ts'
import { type Baseline, type Known, knownIn, type Showing } from './baseline.ts'
import { looksAt, type Observations, type Seen, type Treatment, treatmentOf, withField } from './observed.ts'
import { stages } from './shape.ts'

export interface NewType {
  type: string
  treatment: Treatment
  outputs: string[]
  fields: string[]
}

export interface NewField {
  type: string
  /** The outermost place that nobody knew, or one that is known and has a value of another kind. */
  path: string
  kinds: string[]
  /** Null when the place itself is new. */
  before: string[] | null
  /** The translator makes something of it, or did when it was of another kind. */
  read: boolean
}

export interface GoneField {
  type: string
  path: string
  /** The translator made something of it, as the recordings show; null when no recording has it. */
  read: boolean | null
}

export interface Drift {
  newTypes: NewType[]
  newFields: NewField[]
  goneTypes: string[]
  goneFields: GoneField[]
  turns: { turn: string; before: string; now: string }[]
}

/** What is different from the baseline; `recorded` has the lines that gone fields are looked up in. */
export function compare(
  baseline: Baseline,
  now: Showing,
  translator: Translator<unknown>,
  recorded: Observations,
): Drift {
  const known = knownIn(baseline)
  const seen = [...now.seen].sort(byName)
  const gone = [...known].filter(([type, { always }]) => always && !now.seen.has(type))
  return {
    newTypes: seen.filter(([type]) => !known.has(type)).map(([type, one]) => newType(type, one)),
    newFields: seen.flatMap(([type, one]) => {
      const before = known.get(type)
      return before ? newFields(type, before, one, translator, recorded.get(type)) : []
    }),
    goneTypes: gone.map(([type]) => type),
    goneFields: [...known].flatMap(([type, before]) => {
      const one = now.seen.get(type)
      return one ? goneFields(type, before, one, translator, recorded.get(type)) : []
    }),
    turns: Object.entries(baseline.turns)
      .map(([turn, before]) => ({ turn, before, now: now.turns[turn] ?? 'not run' }))
      .filter((turn) => turn.before !== turn.now),
  }
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}

export function isEmpty(drift: Drift): boolean {
  return Object.values(drift).every((list: unknown[]) => list.length === 0)
}

function newType(type: string, seen: Seen): NewType {
  const fields = [...seen.fields.keys()].sort()
  return { type, treatment: treatmentOf(seen), outputs: [...seen.outputs].sort(), fields }
}

function newFields(
  type: string,
  known: Known,
  seen: Seen,
  translator: Translator<unknown>,
  recorded: Seen | undefined,
): NewField[] {
  const places = new Set([...known.fields.keys()].flatMap(stages))
  const inner = new Set([...known.fields.keys()].flatMap((path) => stages(path).slice(0, -1)))
  const found = new Map<string, NewField>()
  for (const [leaf, kinds] of [...seen.fields].sort(byName)) {
    const fresh = [...kinds].filter((kind) => !known.fields.get(leaf)?.has(kind))
    if (fresh.length === 0) continue
    const path = placeOf(leaf)
    if (found.has(path)) continue
    const before = known.fields.get(path)
    // What was read when it was of another kind may be lost now.
    const samples = [...seen.samples.values(), ...(before ? (recorded?.samples.values() ?? []) : [])]
    const read = looksAt(translator, samples, path)
    const now = path === leaf ? fresh.sort() : [leaf.startsWith(`${path}[]`) ? 'list' : 'object']
    found.set(path, { type, path, kinds: now, before: before ? [...before].sort() : null, read })
  }
  return [...found.values()]

  /** The outermost place that nobody knew, or the value around it that was none that anything lies in. */
  function placeOf(leaf: string): string {
    const outermost = stages(leaf).find((stage) => !places.has(stage)) ?? leaf
    const around = stages(outermost).at(-2)
    return around !== undefined && known.fields.has(around) && !inner.has(around) ? around : outermost
  }
}

function goneFields(
  type: string,
  known: Known,
  seen: Seen,
  translator: Translator<unknown>,
  recorded: Seen | undefined,
): GoneField[] {
  const places = new Set([...seen.fields.keys()].flatMap(stages))
  const gone = new Set<string>()
  for (const path of known.steady) {
    const missing = stages(path).find((stage) => !places.has(stage))
    if (missing !== undefined) gone.add(missing)
  }
  return [...gone].sort().map((path) => {
    const samples = withField(recorded?.samples.values() ?? [], path)
    return { type, path, read: samples.length === 0 ? null : looksAt(translator, samples, path) }
  })
}
