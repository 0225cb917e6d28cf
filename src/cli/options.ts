import { text, type Options } from './cli.ts'
import { CliError, EXIT } from './exit.ts'

export function wholeNumber(options: Options, name: string, otherwise: number): number {
  const given = text(options[name])
  if (given === undefined) return otherwise
  if (!/^\d{1,9}$/.test(given))
    throw new CliError(`--${name} must be a whole number, not ${given}`, EXIT.usage)
  return Number(given)
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
