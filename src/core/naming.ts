import { CorralError } from './error.ts'

export const MAX_NAME = 200

/** A name for people: something to read, on one line. */
export function oneLine(text: string, field: string, longest: number = MAX_NAME): string {
  const name = text.trim()
  if (name === '') throw invalid(field, 'must not be empty')
  if (name.length > longest) throw invalid(field, `may have at most ${longest} characters`)
  if (!name.isWellFormed()) throw invalid(field, 'must be text')
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name)) throw invalid(field, 'must be one line of text')
  return name
}

export function invalid(field: string, problem: string): CorralError {
  return new CorralError('invalid', `${field}: ${problem}`, { field })
}
