/*
 * What a word is, for finding it again. The same function cuts what is written down, what is asked for and what is marked in
 * an answer, so these three never disagree; the database gets words with spaces between them and has nothing to decide.
 *
 * - Letters, digits and the marks on them make words; everything else, underscores and slashes too, stands between them.
 * - `parseHTTPRequest` is the words parse, http and request, and besides, as a whole, parsehttprequest.
 * - Where people write without spaces (Chinese, Japanese, Thai, …) every character is a word: several of them in a row are
 *   then looked for as a phrase.
 * - Case and the accents of Latin, Greek and Cyrillic letters make no difference, nor does width (ﬁ, Ａ).
 */

export interface Word {
  text: string
  /** Where it stands: characters of the text it was cut from. */
  from: number
  to: number
}

export interface Words {
  words: Word[]
  /** Names of several words that are written as one. */
  wholes: Word[]
}

/** Of a text that is longer, the rest is neither found nor marked: to cut it into words would hold everybody up. */
export const SEARCHED_CHARACTERS = 200_000

/** A longer one is cut here: it is no word, and nobody types it. */
const LONGEST = 100

const RUN = /[\p{L}\p{M}\p{N}\p{Co}]+/gu
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const UNSPACED_CLASS = SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')
const UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, 'u')
const PIECE = new RegExp(`[${UNSPACED_CLASS}]\\p{M}*|[^${UNSPACED_CLASS}]+`, 'gu')
/** Between a small letter and a capital one, and before the last capital of several. */
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** Nearly everything is plain, and can be told quickly; the rest is looked at again. */
const ROUGHLY = /[A-Za-z0-9\u0080-\uffff]+/g
const PLAIN = /^[a-z0-9]+$/
const ASCII = /^[A-Za-z0-9]+$/
const ASCII_HUMP = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/

export function wordsOf(text: string): Words {
  const found: Words = { words: [], wholes: [] }
  for (const { 0: run, index } of text.matchAll(ROUGHLY)) {
    if (PLAIN.test(run)) push(found.words, run, index)
    else if (ASCII.test(run)) addSpaced(found, run, index, ASCII_HUMP)
    else cut(found, run, index)
  }
  return found
}

function cut(found: Words, text: string, start: number): void {
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const at = start + index
    if (!UNSPACED.test(run)) addSpaced(found, run, at, HUMP)
    else for (const { 0: piece, index: on } of run.matchAll(PIECE)) addSpaced(found, piece, at + on, HUMP)
  }
}

function addSpaced(found: Words, run: string, at: number, hump: RegExp): void {
  const parts = run.length > LONGEST ? [run] : run.split(hump)
  let from = at
  for (const part of parts) {
    add(found.words, part, from)
    from += part.length
  }
  if (parts.length > 1) add(found.wholes, run, at)
}

function add(list: Word[], text: string, from: number): void {
  const folded = fold(text)
  if (folded !== '') list.push({ text: folded, from, to: from + text.length })
}

function push(list: Word[], text: string, from: number): void {
  list.push({ text: text.length > LONGEST ? text.slice(0, LONGEST) : text, from, to: from + text.length })
}

function fold(word: string): string {
  const short = word.length > LONGEST ? word.slice(0, LONGEST) : word
  const low = short.toLowerCase()
  if (PLAIN.test(low)) return low
  return low
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC')
    .replace(/[^\p{L}\p{M}\p{N}\p{Co}]/gu, '')
}
