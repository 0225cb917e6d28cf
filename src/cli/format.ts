import { stripVTControlCharacters } from 'node:util'
import { exact, inertOutput } from '../core/inert.ts'

type Paint = (style: 'dim', text: string) => string

/** Text from elsewhere, made safe for a terminal: no control characters but newline and tab, no change of direction unseen. */
export function clean(text: string): string {
  return inertOutput(text)
}

/** The same on one line and with nothing hidden: for what a person has to trust as it stands there. */
export function exactLine(text: string): string {
  return exact(text).replaceAll('\n', '⟨U+000A⟩')
}

/** JSON for a pipe or a terminal: the same value, with nothing in it that a terminal obeys. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    // JSON.stringify sees to those below the space.
    /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Ids are shown by their end: those made in the same minute begin alike. */
export function shortId(id: string): string {
  return clean(id.length > 12 ? id.slice(-8) : id)
}

export function sessionName({ name, cwd }: { name: string | null; cwd: string }): string {
  return clean(name ?? '').trim() || `(untitled) ${clean(cwd)}`
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, width(cell))))
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell + ' '.repeat(widths[index]! - width(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One `name  value` a line, without those that have no value. */
export function fields(paint: Paint, rows: readonly (readonly [name: string, value: string])[]): string {
  return table(rows.filter(([, value]) => value !== '').map(([name, value]) => [paint('dim', name), value]))
}

function width(cell: string): number {
  return stripVTControlCharacters(cell).length
}

export function ago(at: number): string {
  return `${duration(Date.now() - at)} ago`
}

export function oneLine(text: string, limit: number): string {
  const flat = clean(text).replace(/\s+/g, ' ').trim()
  return flat.length > limit ? `${flat.slice(0, limit - 1)}…` : flat
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  const units = [
    [1024, 'KiB'],
    [1024 ** 2, 'MiB'],
    [1024 ** 3, 'GiB'],
  ] as const
  const [unit, name] = units.findLast(([size]) => count >= size) ?? units[0]
  return `${(count / unit).toFixed(1)} ${name}`
}

const BEFORE = new Set(['old_string', 'oldText', 'before'])
const AFTER = new Set(['new_string', 'newText', 'after'])

/** A tool's input, for people, with nothing hidden: one `name: value` a line, texts as they are, edits as minus and plus lines. */
export function describeInput(input: unknown, limit = 2000): string {
  if (typeof input !== 'object' || input === null) return cut(printable(input), limit)
  const lines = Object.entries(input).map(([name, value]) => {
    const shown = cut(printable(value), limit)
    const label = oneLine(name, 80)
    if (BEFORE.has(name) && typeof value === 'string') return prefixed(shown, '- ')
    if (AFTER.has(name) && typeof value === 'string') return prefixed(shown, '+ ')
    return shown.includes('\n') ? `${label}:\n${prefixed(shown, '  ')}` : `${label}: ${shown}`
  })
  return lines.join('\n')
}

function printable(value: unknown): string {
  return exact(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))
}

function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}… (${text.length - limit} more characters)` : text
}

export function prefixed(text: string, prefix: string): string {
  return text
    .split('\n')
    .map((line) => prefix + line)
    .join('\n')
}
