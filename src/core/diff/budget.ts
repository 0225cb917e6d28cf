/**
 * What one answer may cost and hold, however much was put into it: whoever wrote the input is not trusted with the daemon's time.
 * It is spent by all files of an answer together.
 */
export interface DiffBudget {
  /** Lines that differ, up to which a comparison is looked for; what it costs grows with their square. */
  edits: number
  lines: number
  chars: number
}

const MAX_EDITS = 1000
const MAX_LINES = 4000
const MAX_CHARS = 512 * 1024

export function newBudget(): DiffBudget {
  return { edits: MAX_EDITS, lines: MAX_LINES, chars: MAX_CHARS }
}
