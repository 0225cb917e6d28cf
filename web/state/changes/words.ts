import { diffWordsWithSpace } from 'diff'

/** A piece of a line; `changed` ones are not in the other version of it. */
export interface Piece {
  text: string
  changed: boolean
}

/** Longer lines are compared as a whole: nobody finds a word in them, and it would take long. */
const MAX_CHARS = 1000
/** Above this share of changed letters, the two lines have nothing to do with each other. */
const TOO_DIFFERENT = 0.7

export interface WordDifference {
  before: Piece[]
  after: Piece[]
}

/** What differs between two versions of a line; null: all of it, or nothing that can be shown. */
export function wordDifference(before: string, after: string): WordDifference | null {
  if (before.length > MAX_CHARS || after.length > MAX_CHARS || before.trim() === '' || after.trim() === '')
    return null
  const parts = diffWordsWithSpace(before, after)
  const pieces = { before: [] as Piece[], after: [] as Piece[] }
  for (const { value, added, removed } of parts) {
    if (!added) push(pieces.before, { text: value, changed: removed })
    if (!removed) push(pieces.after, { text: value, changed: added })
  }
  const share = Math.min(changedShare(pieces.before), changedShare(pieces.after))
  return share > TOO_DIFFERENT ? null : pieces
}

function push(pieces: Piece[], piece: Piece): void {
  const last = pieces.at(-1)
  if (last?.changed === piece.changed) last.text += piece.text
  else pieces.push({ ...piece })
}

function changedShare(pieces: readonly Piece[]): number {
  let [changed, all] = [0, 0]
  for (const piece of pieces) {
    const letters = piece.text.replace(/\s+/g, '').length
    all += letters
    if (piece.changed) changed += letters
  }
  return all === 0 ? 0 : changed / all
}
