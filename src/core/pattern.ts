/*
 * Patterns of rules: text with `*` for any run of characters. A star that is meant as itself has a backslash before it, and
 * so has a backslash.
 */

/** Stands in a text for something that is not known: any run of characters. */
export const HOLE = '\0'

/** Linear in both lengths: a pattern is split at its stars and its pieces are looked for in order. */
export function fits(pattern: string, text: string): boolean {
  return inPieces(piecesOf(pattern), text)
}

/** Whether there is anything that the holes of a text can stand for with which it fits. */
export function couldFit(pattern: string, text: string): boolean {
  const wanted = piecesOf(pattern)
  const known = text.split(HOLE)
  if (known.length === 1) return inPieces(wanted, text)
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

function inPieces([head = '', ...pieces]: readonly string[], text: string): boolean {
  if (pieces.length === 0) return head === text
  if (!text.startsWith(head)) return false
  const last = pieces.pop()!
  let at = head.length
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
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

/** `git push *` fits where nothing follows, too, and `git push:*` is another way to write it. */
export function endings(pattern: string): string[] {
  const end = /^([^]*[^\\])(?: |:)\*$/.exec(pattern)
  return end ? [end[1]!, `${end[1]!} *`] : [pattern]
}
