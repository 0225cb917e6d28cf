import type { Phrase } from './query.ts'
import { SEARCHED_CHARACTERS, wordsOf, type Word } from './words.ts'

export interface Snippet {
  text: string
  /** What was looked for, as ranges of characters in `text`. */
  marks: [from: number, to: number][]
}

const BEFORE = 60
const LENGTH = 240

/** The part of a text around the first place where most of what was looked for stands. */
export function snippetOf(text: string, phrases: readonly Phrase[]): Snippet {
  const marks = marksIn(text, phrases)
  const from = startOf(text, bestStart(marks))
  const to = endOf(text, Math.min(text.length, from + LENGTH))
  const inside = marks.filter((mark) => mark[0] >= from && mark[1] <= to)
  const [head, tail] = [from > 0 ? '…' : '', to < text.length ? '…' : '']
  const shift = head.length - from
  return {
    text: `${head}${text.slice(from, to)}${tail}`,
    marks: inside.map(([a, b]) => [a + shift, b + shift]),
  }
}

function marksIn(text: string, phrases: readonly Phrase[]): [number, number][] {
  const { words, wholes } = wordsOf(text.slice(0, SEARCHED_CHARACTERS))
  const found = phrases.flatMap((phrase) => [...rowsOf(words, phrase), ...rowsOf(wholes, phrase)])
  const marks: [number, number][] = []
  for (const [from, to] of found.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = marks.at(-1)
    if (last && from < last[1]) last[1] = Math.max(last[1], to)
    else marks.push([from, to])
  }
  return marks
}

function rowsOf(words: readonly Word[], { words: wanted, open }: Phrase): [number, number][] {
  const rows: [number, number][] = []
  const last = wanted.length - 1
  for (let at = 0; at + last < words.length; at++) {
    const fits = wanted.every((word, i) => {
      const { text } = words[at + i]!
      return open && i === last ? text.startsWith(word) : text === word
    })
    if (fits) rows.push([words[at]!.from, words[at + last]!.to])
  }
  return rows
}

/** Where the window with the most marks begins. */
function bestStart(marks: readonly [number, number][]): number {
  let best = 0
  let most = 0
  let end = 0
  marks.forEach(([from], at) => {
    while (end < marks.length && marks[end]![1] <= from - BEFORE + LENGTH) end++
    if (end - at <= most) return
    most = end - at
    best = from
  })
  return most === 0 ? 0 : Math.max(0, best - BEFORE)
}

/** Not in the middle of a word, nor of a character. */
function startOf(text: string, at: number): number {
  if (at === 0) return 0
  const space = text.slice(at, at + BEFORE / 2).search(/\s/)
  return space >= 0 ? at + space + 1 : whole(text, at)
}

function endOf(text: string, at: number): number {
  return at >= text.length ? text.length : whole(text, at)
}

function whole(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at
}
