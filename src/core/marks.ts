/** What people have noted about a session. It is the same on every screen. */
export interface Marks {
  /** They have read up to here. Never goes back. */
  readSeq: number
  pinned: boolean
  /** Out of sight until then. When that time has come, the session is back until somebody looks at it. */
  snoozedUntil: number | null
  /** A human has said that it is done. */
  settled: boolean
  flags: readonly string[]
}

export const NO_MARKS: Marks = Object.freeze({
  readSeq: 0,
  pinned: false,
  snoozedUntil: null,
  settled: false,
  flags: Object.freeze([]),
})

export const MAX_FLAGS = 8
/** Characters of one of them. */
export const MAX_FLAG = 32
