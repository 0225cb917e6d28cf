import { asArray, asObject, capped, cutText, isObject, type JsonObject } from '../json.ts'

/** What a rule looks at, and what a human has to see all of. */
export const SUBJECTS = ['command', 'file_path', 'path', 'url', 'pattern']
export const MAX_SUBJECT = 64 * 1024

const MAX_INPUT = 256 * 1024
const MAX_PART = 16 * 1024
export const MAX_PARTS = 64

/** A tool's input as it goes to the log: what is too long loses its lists and the ends of its texts. */
export function fittingInput(input: JsonObject): JsonObject {
  if (capped(input, MAX_INPUT) === input) return input
  const texts = Object.entries(input)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[0].length < 100)
    .sort(([a], [b]) => Number(SUBJECTS.includes(b)) - Number(SUBJECTS.includes(a)))
    .slice(0, MAX_PARTS / 8)
    .map(([key, text]) => [key, cutText(text, SUBJECTS.includes(key) ? MAX_SUBJECT : MAX_PART).text])
  return { ...(Object.fromEntries(texts) as JsonObject), cut: true }
}

/** What an agent shows of a call. */
export function fittingContent(content: unknown): unknown[] {
  const parts = asArray(content)
  if (capped(parts, MAX_INPUT) === parts) return parts
  return parts.slice(0, MAX_PARTS).map((one) => {
    const { type, content: inner, ...rest } = asObject(one)
    const texts = isObject(inner) ? { content: cutTexts(inner) } : {}
    return { type, ...cutTexts(rest), ...texts }
  })
}

function cutTexts(object: JsonObject): JsonObject {
  const texts = Object.entries(object).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(
    texts.slice(0, 8).map(([key, text]) => [key, cutText(text as string, MAX_PART).text]),
  )
}
