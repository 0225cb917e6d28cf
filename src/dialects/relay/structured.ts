import type { JsonObject } from './ask.ts'

/**
 * A wish for JSON, as a sentence for the system prompt. An agent cannot be held to a schema while it writes, but it follows
 * one well, and clients that ask for JSON parse and check what they get: refusing would help nobody. An upstream of the
 * client's own shape gets the wish itself and holds its model to it.
 */
export function jsonWish(schema: JsonObject | null): string {
  const only = 'Answer with a single JSON value and nothing else: no words around it, no code fence.'
  return schema === null
    ? only
    : `${only} It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`
}

/** Parts of a system prompt as one; null when there are none. */
export function joined(parts: readonly string[]): string | null {
  return parts.filter((part) => part !== '').join('\n\n') || null
}
