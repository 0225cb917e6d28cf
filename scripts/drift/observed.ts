import { isDeepStrictEqual } from 'node:util'
import type { AgentDriver, Translator } from '../../src/agents/agent.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { type Fields, shapeOf, without } from './shape.ts'

/** Everything that was seen of one type of message. */
export interface Seen {
  fields: Fields
  /** What the translator made of it: types of outputs, and whether it ever remembered anything. */
  outputs: Set<string>
  remembered: boolean
  /** One line for each combination of fields, with the translator's state before it. */
  samples: Map<string, Sample>
}

export interface Sample {
  state: unknown
  line: unknown
}

export type Observations = Map<string, Seen>

type TypeOf = (line: unknown) => string

/** The driver, with every line that its translator reads noted down. */
export function observed(driver: AgentDriver, typeOf: TypeOf, into: Observations): AgentDriver {
  return { ...driver, translator: observing(driver.translator, typeOf, into) }
}

export function observing(
  translator: Translator<unknown>,
  typeOf: TypeOf,
  into: Observations,
): Translator<unknown> {
  return {
    initial: (session) => translator.initial(session),
    step(state, line) {
      const step = translator.step(state, line)
      observe(into, typeOf(line), { state, line }, step)
      return step
    },
  }
}

function observe(
  into: Observations,
  type: string,
  sample: Sample,
  step: { state: unknown; outputs: DriverOutput[] },
): void {
  const seen = into.get(type) ?? {
    fields: new Map(),
    outputs: new Set(),
    remembered: false,
    samples: new Map(),
  }
  into.set(type, seen)
  const shape = shapeOf(sample.line)
  mergeFields(seen.fields, shape)
  for (const output of step.outputs) seen.outputs.add(output.type)
  seen.remembered ||= !isDeepStrictEqual(step.state, sample.state)
  const combination = Array.from(shape, ([path, kinds]) => `${path}: ${[...kinds].join('|')}`)
    .sort()
    .join('\n')
  if (!seen.samples.has(combination)) seen.samples.set(combination, sample)
}

export function mergeFields(into: Fields, more: Fields): void {
  for (const [path, kinds] of more) into.set(path, new Set([...(into.get(path) ?? []), ...kinds]))
}

/** `ignored`: no trace of it anywhere. `unknown`: in the log as it came, with no branch of its own. */
export type Treatment = 'ignored' | 'unknown' | 'read'

export function treatmentOf({ outputs, remembered }: Seen): Treatment {
  if (remembered) return 'read'
  if (outputs.size === 0) return 'ignored'
  return outputs.size === 1 && outputs.has('agent.other') ? 'unknown' : 'read'
}

/** Samples that have a field, each with the line as it is without it. */
export function withField(samples: Iterable<Sample>, path: string): (Sample & { bare: unknown })[] {
  return [...samples]
    .map((sample) => ({ ...sample, bare: without(sample.line, path) }))
    .filter(({ line, bare }) => !isDeepStrictEqual(bare, line))
}

/** Whether a translator looks at a field: leaving it out makes a difference to what comes of the line. */
export function looksAt(translator: Translator<unknown>, samples: Iterable<Sample>, path: string): boolean {
  return withField(samples, path).some(({ state, line, bare }) => {
    const [whole, less] = [line, bare].map((one) => gist(translator.step(state, one)))
    return !isDeepStrictEqual(whole, less)
  })
}

/** A line that is passed on as it came has not been looked at. */
function gist({ state, outputs }: { state: unknown; outputs: DriverOutput[] }): unknown {
  return { state, outputs: outputs.map((output) => ({ ...output, raw: null })) }
}
