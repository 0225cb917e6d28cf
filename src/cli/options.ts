import { isMode, MODES } from '../core/mode.ts'
import type { Mode } from '../core/mode.ts'
import { given, text, type Options } from './cli.ts'
import { CliError, EXIT } from './exit.ts'

export function wholeNumber(options: Options, name: string, otherwise: number): number {
  const given = text(options[name])
  if (given === undefined) return otherwise
  if (!/^\d{1,9}$/.test(given))
    throw new CliError(`--${name} must be a whole number, not ${given}`, EXIT.usage)
  return Number(given)
}

/** What a session may be set up with, as given. */
export function setup(options: Options): { mode?: Mode; model?: string; title?: string } {
  const { mode, ...rest } = given(options, 'mode', 'model', 'title')
  if (mode === undefined) return rest
  if (!isMode(mode)) throw new CliError(`--mode must be one of ${MODES.join(', ')}, not ${mode}`, EXIT.usage)
  return { mode, ...rest }
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
