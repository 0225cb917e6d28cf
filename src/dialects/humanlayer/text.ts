import type { Content } from '../../core/content.ts'

const SUMMARY_CHARS = 50
const DOTS = '...'
/** Nobody writes this much white space in a line. */
const LOOKED_AT = 5000

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** A line about a query, counted in code points. */
export function summaryOf(query: string): string {
  const chars = Array.from(query.trim().slice(0, LOOKED_AT).replaceAll(/\s+/g, ' ').trimEnd())
  return chars.length <= SUMMARY_CHARS
    ? chars.join('')
    : chars.slice(0, SUMMARY_CHARS - DOTS.length).join('') + DOTS
}

/** What the user said, as one text. */
export function textOfInput(input: readonly Content[]): string {
  return input.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n')
}

/** Never leaves half a character behind. */
export function cutTo(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function stringIn(value: unknown, key: string): string | null {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'string' ? found : null
}
