import type { Field } from './fields.ts'

const MAX_SEQUENCES = 64
const MAX_LENGTH = 1_000

export function stopSequencesOf(list: Field): string[] {
  if (!list.given) return []
  return list.items(MAX_SEQUENCES).map((field) => field.filled(MAX_LENGTH))
}
