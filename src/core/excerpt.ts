/*
 * Short pieces of what somebody said, for lists: one line, bounded, and without anything that moves a cursor or turns text around.
 * What an agent says may be hostile.
 */

/** No more of a text is looked at. */
const MAX_LOOKED_AT = 4000

/** Controls of terminals, and those that change the direction of text. */
// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g

/** At most this many characters, one line. */
export function excerpt(text: string, longest: number): string {
  const line = text.slice(0, MAX_LOOKED_AT).toWellFormed().replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim()
  if (line.length <= longest) return line
  const cut = line.slice(0, longest - 1)
  return `${cut.isWellFormed() ? cut.trimEnd() : cut.slice(0, -1).trimEnd()}…`
}

/** The last line that has a word in it; null: none has. */
export function lastLine(text: string, longest: number): string | null {
  const lines = text.slice(-MAX_LOOKED_AT).split(/[\n\r\u2028\u2029]/)
  const found = lines.findLast(hasWord)
  return found === undefined ? null : excerpt(found, longest)
}

/** The first line that has a word in it, up to the end of one; null: none has. */
export function firstLine(text: string, longest: number): string | null {
  const found = text
    .slice(0, MAX_LOOKED_AT)
    .split(/[\n\r\u2028\u2029]/)
    .find(hasWord)
  if (found === undefined) return null
  const line = excerpt(found, longest)
  const isCut = line.endsWith('…') && line.length < excerpt(found, MAX_LOOKED_AT).length
  const end = line.lastIndexOf(' ')
  // One long word is cut where it is.
  return isCut && end > longest / 2 ? `${line.slice(0, end)}…` : line
}

function hasWord(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line)
}
