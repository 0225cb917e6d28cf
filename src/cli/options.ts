import { type Effort, EFFORTS } from '../core/effort.ts'
import { type Mode, MODES } from '../core/mode.ts'
import { given, text, type Options } from './cli.ts'
import { CliError, EXIT } from './exit.ts'

export function wholeNumber(options: Options, name: string, otherwise: number): number {
  const given = text(options[name])
  if (given === undefined) return otherwise
  if (!/^\d{1,9}$/.test(given))
    throw new CliError(`--${name} must be a whole number, not ${given}`, EXIT.usage)
  return Number(given)
}

/** The words of a name, as one; most likely a variable of a script is not set where there are none. */
export function nameFrom(words: unknown, what: string): string {
  const name = (words as string[]).join(' ')
  if (name.trim() === '') throw new CliError(`the name of the ${what} is empty`, EXIT.usage)
  return name
}

/** The agent decides. */
const OWN = 'default'
export const EFFORT_WORDS = [...EFFORTS, OWN] as const

/** The options that set up a session. */
export function setup(options: Options): {
  mode?: Mode
  model?: string
  effort?: Effort | null
  title?: string
} {
  const { mode, effort } = given(options, 'mode', 'effort')
  return {
    ...(mode !== undefined && { mode: oneOf('mode', MODES, mode) }),
    ...(effort !== undefined && { effort: effortOf(effort) }),
    ...given(options, 'model', 'title'),
  }
}

function effortOf(given: string): Effort | null {
  const effort = oneOf('effort', EFFORT_WORDS, given)
  return effort === OWN ? null : effort
}

function oneOf<T extends string>(name: string, known: readonly T[], given: string): T {
  const found = known.find((one) => one === given)
  if (found !== undefined) return found
  throw new CliError(`--${name} must be one of ${known.join(', ')}, not ${given}`, EXIT.usage)
}

export function json(options: Options, name: string): unknown {
  const given = text(options[name])
  if (given === undefined) return undefined
  try {
    return JSON.parse(given) as unknown
  } catch (error) {
    throw new CliError(`--${name} is not JSON: ${(error as Error).message}`, EXIT.usage)
  }
}
