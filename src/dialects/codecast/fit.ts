import type { WireEvent } from './wire.ts'

/**
 * The original's client gives up on a line of 128 KiB or more, so lines stay well below: long text becomes several events,
 * everything else is cut with a mark.
 */
export const LINE_LIMIT = 96 * 1024

const RAW_BUDGET = 64 * 1024
const INPUT_BUDGET = 48 * 1024
const MESSAGE_BUDGET = 40 * 1024
const NAME_BUDGET = 4 * 1024

/** The event as JSON lines of at most `LINE_LIMIT` bytes. */
export function fitEvent(event: WireEvent): string[] {
  const json = JSON.stringify(event)
  if (json.length * 3 <= LINE_LIMIT || Buffer.byteLength(json) <= LINE_LIMIT) return [json]
  if (event.type === 'partial' || event.type === 'text') {
    return splitText(event.content, LINE_LIMIT - 64).map((content) =>
      JSON.stringify({ type: event.type, content }),
    )
  }
  return [JSON.stringify(shrink(event))]
}

function shrink(event: WireEvent): WireEvent {
  switch (event.type) {
    case 'system':
    case 'result':
      return { ...cutStrings(event, NAME_BUDGET), raw: trimRaw(event.raw, RAW_BUDGET) }
    case 'tool_use':
      return {
        ...event,
        ...(event.tool === undefined ? {} : { tool: cutText(event.tool, NAME_BUDGET) }),
        ...(event.input === undefined ? {} : { input: trimInput(event.input, INPUT_BUDGET) }),
        ...(event.message === undefined ? {} : { message: cutText(event.message, MESSAGE_BUDGET) }),
      }
    case 'error':
    case 'interrupted':
      return cutStrings(event, MESSAGE_BUDGET)
    default:
      return event
  }
}

function cutStrings<T extends object>(value: T, budget: number): T {
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    typeof field === 'string' ? cutText(field, budget) : field,
  ])
  return Object.fromEntries(entries) as T
}

/** Pieces whose JSON form is at most `budget` bytes each, cut between characters; joined they are the text. */
export function splitText(text: string, budget: number): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length || pieces.length === 0;) {
    const piece = fitting(text, start, budget)
    pieces.push(piece)
    start += piece.length || 1
  }
  return pieces
}

/** As much from `start` as fits; measured on whole slices, which is much quicker than character by character. */
function fitting(text: string, start: number, budget: number): string {
  for (let length = budget; ;) {
    let end = Math.min(start + length, text.length)
    if (end < text.length && end - start > 1 && isPair(text, end - 1)) end--
    const piece = text.slice(start, end)
    const size = Buffer.byteLength(JSON.stringify(piece)) - 2
    if (size <= budget || piece.length <= 2) return piece
    length = Math.max(2, Math.floor((piece.length * budget * 0.98) / size))
  }
}

/** The beginning of a text, with a mark that says how much is gone. */
export function cutText(text: string, budget: number): string {
  const first = fitting(text, 0, budget)
  if (first.length === text.length) return text
  return `${first}\n… [cut: ${Buffer.byteLength(text) - Buffer.byteLength(first)} bytes]`
}

/** An agent's own line without its biggest fields. */
function trimRaw(raw: unknown, budget: number): unknown {
  if (sizeOf(raw) <= budget) return raw
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return { truncated: true }
  const fields = Object.entries(raw).map(([name, value]) => ({
    name,
    value,
    size: sizeOf(name) + sizeOf(value) + 2,
  }))
  fields.sort((a, b) => b.size - a.size)
  let total = fields.reduce((sum, field) => sum + field.size, 0)
  const dropped = new Set<string>()
  for (const field of fields) {
    if (total <= budget) break
    dropped.add(field.name)
    total -= field.size
  }
  const kept = Object.entries(raw).filter(([name]) => !dropped.has(name))
  return { ...Object.fromEntries(kept), truncated: true }
}

/** A tool's input with its long strings cut; when that does not do, the beginning of its JSON. */
function trimInput(input: unknown, budget: number): unknown {
  for (const longest of [16_384, 4_096, 512]) {
    const cut = cutDeep(input, longest)
    if (sizeOf(cut) <= budget) return cut
  }
  return { truncated: true, preview: cutText(JSON.stringify(input) ?? '', budget / 2) }
}

function cutDeep(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return cutText(value, longest)
  if (Array.isArray(value)) return value.map((item) => cutDeep(item, longest))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, cutDeep(field, longest)]))
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
