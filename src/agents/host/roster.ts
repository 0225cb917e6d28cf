import type { Run } from './run.ts'

/** The processes of this daemon's sessions. */
export interface Roster {
  /** Those that run, by session. */
  readonly runs: Map<string, Run>
  /** Those that are being started. */
  readonly starting: Map<string, Promise<Run>>
  /** The daemon has let go: no process is touched any more, the next daemon finds them. */
  released: boolean
}
