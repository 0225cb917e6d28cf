import { asArray, asObject, asString, capped, isObject, type JsonObject } from '../json.ts'

const MAX_RAW = 64 * 1024

/** What a tool brought, as text: its own words, else what the agent shows of it, else what was streamed. */
export function outputText({ content, rawOutput }: JsonObject, streamed: string): string {
  if (typeof rawOutput === 'string') return rawOutput
  return contentText(asArray(content)) || streamed || rawText(rawOutput)
}

export function contentText(content: unknown[]): string {
  return content
    .map((one) => {
      const { type, content: inner, path, oldText, newText } = asObject(one)
      if (type === 'diff')
        return diffText(asString(path) ?? '', asString(oldText) ?? '', asString(newText) ?? '')
      const { text, type: kind } = asObject(inner)
      return asString(text) ?? (typeof kind === 'string' ? `[${kind}]` : '')
    })
    .filter((text) => text !== '')
    .join('\n')
}

function rawText(raw: unknown): string {
  if (raw === undefined || raw === null) return ''
  const { output, error } = asObject(raw)
  const told = asString(output) ?? asString(error)
  if (told !== null) return told
  const value = capped(raw, MAX_RAW)
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
}

/** The lines that went and the lines that came; what is the same before and after them is left out. */
export function diffText(path: string, before: string, after: string): string {
  const old = linesOf(before)
  const now = linesOf(after)
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const went = old.slice(head, old.length - tail).map((line) => `-${line}`)
  const came = now.slice(head, now.length - tail).map((line) => `+${line}`)
  const place = `@@ -${head + 1},${went.length} +${head + 1},${came.length} @@`
  return [`--- ${path}`, `+++ ${path}`, place, ...went, ...came].join('\n')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
