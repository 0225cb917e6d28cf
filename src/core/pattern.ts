/*
 * Patterns of rules: text with `*` for any run of characters. A star that is meant as itself has a backslash before it, and
 * so has a backslash.
 */

/** Stands in a text for something that is not known: any run of characters. */
export const HOLE = '\0'

/** The same, within one word. */
export const PART = '\u0001'

/** Linear in both lengths: a pattern is split at its stars and its pieces are looked for in order. */
export function fits(pattern: string, text: string): boolean {
  return inPieces(piecesOf(pattern), text)
}

/** Whether there is anything that the holes of a text can stand for with which it fits a pattern, given in pieces. */
export function couldFit(wanted: readonly string[], text: string): boolean {
  if (!text.includes(HOLE)) return inPieces(wanted, text)
  const known = text.split(HOLE)
  if (wanted.length === 1) return inPieces(known, wanted[0]!)
  // A star on either side takes in whatever the other has in its middle: only the ends must agree.
  return (
    agree(wanted[0]!, known[0]!, (long, short) => long.startsWith(short)) &&
    agree(wanted.at(-1)!, known.at(-1)!, (long, short) => long.endsWith(short))
  )
}

function agree(a: string, b: string, covers: (long: string, short: string) => boolean): boolean {
  return a.length > b.length ? covers(a, b) : covers(b, a)
}

/** A pattern that was taken to pieces before. */
export function inPieces(pieces: readonly string[], text: string): boolean {
  const [head, last] = [pieces[0]!, pieces.at(-1)!]
  if (pieces.length === 1) return head === text
  if (!text.startsWith(head) || !text.endsWith(last)) return false
  let at = head.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - last.length >= at
}

/** A pattern that fits this text and no other. */
export function exactly(text: string): string {
  return text.replace(/[\\*]/g, '\\$&')
}

export function hasStar(pattern: string): boolean {
  return piecesOf(pattern).length > 1
}

/** What stands between the stars. */
export function piecesOf(pattern: string): string[] {
  if (!pattern.includes('\\')) return pattern.split('*')
  const pieces = ['']
  for (const [token] of pattern.matchAll(/\\[\\*]|[^]/g)) {
    if (token === '*') pieces.push('')
    else pieces.push(pieces.pop()! + (token.length > 1 ? token[1]! : token))
  }
  return pieces
}

/** `NAME` or `NAME(PATTERN)`. */
export interface Rule {
  name: string
  pattern: string | null
}

export function parseRule(rule: string): Rule {
  const [, name = rule, pattern = null] = /^([^(]+)\(([^]*)\)$/.exec(rule) ?? []
  return { name: name.trim(), pattern }
}

/** What is not a rule, whatever it was meant to be: a parenthesis without the other one, or no name before it. */
export function isRule(rule: string): boolean {
  const { name } = parseRule(rule)
  return name !== '' && !/[()]/.test(name)
}

/** `git push *` fits where nothing follows, too, and `git push:*` is another way to write it. */
export function endings(pattern: string): string[] {
  const end = /^([^]*[^\\])(?: |:)\*$/.exec(pattern)
  return end ? [end[1]!, `${end[1]!} *`] : [pattern]
}

/** A piece of a word that a pattern names, for texts of which nothing else is known. */
interface Named {
  text: string
  /** The word begins with it; ends with it. */
  first: boolean
  last: boolean
}

export function wordsOf(pattern: string): Named[] {
  return pattern
    .split(/[\s:]+/)
    .flatMap((word) => {
      const pieces = piecesOf(word)
      return pieces.map((text, at) => ({ text, first: at === 0, last: at === pieces.length - 1 }))
    })
    .filter(({ text }) => text !== '')
}

/** Whether a text has these words, in this order, with whatever else between them. After the first a hole may be the rest. */
export function mentions(words: readonly Named[], text: string): boolean {
  // `"cd x\ngit push"`: what a text has in place of a space.
  const plain = text.replaceAll(/\\[ntr]/g, '  ')
  let at = 0
  for (const word of words) {
    at = plain.indexOf(word.text, at)
    while (at >= 0 && !isWhole(plain, at, word)) at = plain.indexOf(word.text, at + 1)
    if (at < 0) return false
    at += word.text.length
    if (plain.includes(HOLE, at)) return true
  }
  return words.length > 0
}

/** `rm` is not in `format`. */
function isWhole(text: string, at: number, { text: { length }, first, last }: Named): boolean {
  const joined = (near: string | undefined): boolean => near !== undefined && /[\w-]/.test(near)
  return !(first && joined(text[at - 1])) && !(last && joined(text[at + length]))
}
