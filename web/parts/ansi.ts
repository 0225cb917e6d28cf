import { inert } from './inert.ts'

/** How a piece of a terminal's output looks. Colours are a number of the palette (0 to 255) or `#rrggbb`. */
export interface Look {
  fg?: number | string
  bg?: number | string
  bold?: true
  dim?: true
  italic?: true
  underline?: true
  strike?: true
  inverse?: true
}

export interface Span {
  text: string
  look: Look
}

/**
 * One escape sequence: a control sequence (`ESC [ … final`), a string that is ended by BEL or ST (titles, links, images), or two
 * characters. One that is cut off takes what is left of the line with it.
 */
const ESCAPE =
  // oxlint-disable-next-line no-control-regex -- that is what they are
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])?|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]?/g

/** Spans of what a program has written to a terminal. Colours and weights are kept, all else that is not text vanishes. */
export function spansOf(output: string): Span[] {
  const text = overwritten(output)
  const spans: Span[] = []
  let look: Look = {}
  let from = 0
  for (const found of text.matchAll(ESCAPE)) {
    add(spans, text.slice(from, found.index), look)
    from = found.index + found[0].length
    if (found[2] === 'm') look = after(look, found[1]!)
  }
  add(spans, text.slice(from), look)
  return spans
}

/** Without any escape sequence. */
export function plainOf(output: string): string {
  return inert(overwritten(output).replace(ESCAPE, ''))
}

function add(spans: Span[], raw: string, look: Look): void {
  const text = inert(raw)
  if (text === '') return
  const last = spans.at(-1)
  if (last?.look === look) last.text += text
  else spans.push({ text, look })
}

/** A carriage return begins the line anew: of a progress bar the last state is left. A backspace takes a character back. */
function overwritten(text: string): string {
  let lines = text.replaceAll('\r\n', '\n')
  if (lines.includes('\b')) lines = withoutBackspaces(lines)
  if (!lines.includes('\r')) return lines
  return lines
    .split('\n')
    .map((line) => line.split('\r').findLast((part) => part !== '') ?? '')
    .join('\n')
}

function withoutBackspaces(text: string): string {
  const kept: string[] = []
  for (const character of text) {
    if (character !== '\b') kept.push(character)
    else if (kept.length > 0 && kept.at(-1) !== '\n') kept.pop()
  }
  return kept.join('')
}

const ON: Readonly<Record<number, keyof Look>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
}
const OFF: Readonly<Record<number, readonly (keyof Look)[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
  39: ['fg'],
  49: ['bg'],
}

/** The look after a sequence with these parameters. */
function after(before: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map(Number)
  let look = before
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!
    const coloured = code === 38 || code === 48
    if (coloured) {
      const [colour, used] = extended(codes.slice(at + 1))
      if (colour !== null) look = { ...look, [code === 38 ? 'fg' : 'bg']: colour }
      at += used
    } else look = afterCode(look, code)
  }
  return look
}

function afterCode(look: Look, code: number): Look {
  if (code === 0) return {}
  const on = ON[code]
  if (on) return { ...look, [on]: true }
  if (OFF[code]) return without(look, OFF[code])
  if (code >= 30 && code <= 37) return { ...look, fg: code - 30 }
  if (code >= 90 && code <= 97) return { ...look, fg: code - 82 }
  if (code >= 40 && code <= 47) return { ...look, bg: code - 40 }
  if (code >= 100 && code <= 107) return { ...look, bg: code - 92 }
  return look
}

function without(look: Look, keys: readonly (keyof Look)[]): Look {
  return Object.fromEntries(Object.entries(look).filter(([key]) => !keys.includes(key as keyof Look)))
}

/** A colour of 256, or of red, green and blue; and how many numbers it took. */
function extended([kind, ...rest]: number[]): [colour: number | string | null, used: number] {
  if (kind === 5) return [isByte(rest[0]) ? rest[0] : null, 2]
  if (kind !== 2) return [null, 1]
  const parts = rest.slice(0, 3)
  if (parts.length < 3 || !parts.every(isByte)) return [null, 4]
  return [`#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`, 4]
}

function isByte(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0 && value <= 255
}

/** Of the colours beyond the sixteen that a theme has names for: the cube and the greys of xterm. */
export function paletteColour(index: number): string {
  const hex = (values: number[]): string =>
    `#${values.map((value) => value.toString(16).padStart(2, '0')).join('')}`
  if (index >= 232) return hex(Array.from({ length: 3 }, () => 8 + (index - 232) * 10))
  const cube = index - 16
  const step = (value: number): number => (value === 0 ? 0 : 55 + value * 40)
  return hex([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(step))
}
