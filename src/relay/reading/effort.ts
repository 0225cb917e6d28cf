import type { Effort } from '../../core/effort.ts'
import type { Field } from './fields.ts'

/** The words of both APIs; the rest of them are ours, too. */
const WORDS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** How long the model is to think, in either API's words; undefined: nobody has said. */
export function effortOf(field: Field): Effort | undefined {
  if (!field.given) return undefined
  const word = field.oneOf(...WORDS)
  return word === 'none' ? 'off' : word
}
