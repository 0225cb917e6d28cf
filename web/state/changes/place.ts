/** The version of a file that a line number counts in. */
export type Side = 'old' | 'new'

/** Lines of one version of a file. */
export interface Place {
  path: string
  side: Side
  line: number
  /** The last one; the same as `line` for a single line. */
  endLine: number
}

/** A name for a line, for tables of lines. */
export function lineKey(path: string, side: Side, line: number): string {
  return `${side}:${line}:${path}`
}

export function isIn(place: Place | null, path: string, side: Side, line: number | null): boolean {
  if (!place || line === null) return false
  return place.path === path && place.side === side && line >= place.line && line <= place.endLine
}

/** The place from one line to another; those of two files, or of two versions, have nothing between them. */
export function placeBetween(from: Place, to: Place): Place {
  if (from.path !== to.path || from.side !== to.side) return from
  return {
    ...from,
    line: Math.min(from.line, to.line),
    endLine: Math.max(from.endLine, to.endLine),
  }
}

/** For people: `line 4`, `lines 4–9`, and that it is about what was there before. */
export function placeName({ side, line, endLine }: Pick<Place, 'side' | 'line' | 'endLine'>): string {
  const lines = line === endLine ? `line ${line}` : `lines ${line}–${endLine}`
  return side === 'old' ? `${lines} before` : lines
}
