/** A line of a hunk: in both versions, in the new one, or in the old one. */
export interface ChangeLine {
  readonly kind: ' ' | '+' | '-'
  /** Without its line feed. */
  readonly text: string
  /** Its number in the version before, from 1; null: it is not in it. */
  readonly old: number | null
  readonly new: number | null
}

export interface Hunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  /** What git writes behind the numbers (the function around it), where there is something; else empty. */
  readonly header: string
  readonly lines: readonly ChangeLine[]
}

/** What becomes of one file: as git tells it, or as the input of an edit does. */
export interface FileChange {
  readonly path: string
  /** The name before, where it had another one. */
  readonly oldPath: string | null
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  readonly isBinary: boolean
  /** Of the whole change, also where `hunks` were cut. */
  readonly additions: number
  readonly deletions: number
  readonly hunks: readonly Hunk[]
  /** There is more than the hunks say. */
  readonly truncated: boolean
}
