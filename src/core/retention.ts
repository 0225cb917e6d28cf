/** What leaves the log when it is too old. */
export interface Retention {
  /** Events older than this go, unless they belong to a turn that is not over; null keeps them for ever. */
  eventsBefore: number | null
  /** Destroyed sessions that were last active before this go with all they have. */
  destroyedBefore: number | null
  /** Rows per call, so that one call never holds up a commit for long. */
  limit: number
}
