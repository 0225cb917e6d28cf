/** Careful reading of what an agent wrote: any field may be missing or of another type. */
export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What the text says, or null when it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function asNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** Finite and not negative, else 0: counts, durations, prices. */
export function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}

/** What is before the first colon, and what is behind it. */
export function halves(text: string): [string, string] {
  const colon = text.indexOf(':')
  return colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
}

const TOO_DEEP = '(nested too deeply)'

/** The value itself, or the beginning of its JSON when that is longer than `max` characters. */
export function capped(value: unknown, max: number): unknown {
  const json = jsonOf(value)
  if (json === TOO_DEEP) return json
  return json.length <= max ? value : `${json.slice(0, max)}…`
}

/** Leaves out the longest lists of an object, one by one, until its JSON fits. */
export function withoutLongLists(object: JsonObject, max: number): unknown {
  let size = jsonOf(object).length
  if (size <= max) return capped(object, max)
  const lists = Object.entries(object)
    .filter(([, value]) => Array.isArray(value))
    .map(([key, value]) => ({ key, size: jsonOf(value).length }))
    .sort((a, b) => b.size - a.size)
  const rest = { ...object }
  for (const list of lists) {
    if (size <= max) break
    delete rest[list.key]
    size -= list.size
  }
  return capped(rest, max)
}

/** Text of at most `max` bytes of UTF-8, cut between characters, and how many bytes went. */
export function cutText(text: string, max: number): { text: string; cut: number } {
  if (text.length * 3 <= max) return { text, cut: 0 }
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= max) return { text, cut: 0 }
  let end = max
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return { text: bytes.toString('utf8', 0, end), cut: bytes.length - end }
}

/** Reading JSON has no bound on depth, writing it has. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return TOO_DEEP
  }
}
