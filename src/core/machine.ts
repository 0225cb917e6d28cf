/** A place in a log: which one, and the last `seq` that is known of it. */
export interface LogCursor {
  log: string
  seq: number
}

/** Another machine, whose sessions are copied into this log. */
export interface Machine {
  name: string
  /** How to reach it. */
  target: string
  /** How far its log has been copied; null: nothing was yet. */
  cursor: LogCursor | null
}

/** Of other machines, and of what was copied from them. */
export type CopyWrite =
  /** The event of this `seq` was copied. */
  | { op: 'copy'; seq: number; machine: string; ownerSeq: number }
  /** All that was copied from a machine goes. */
  | { op: 'copies.drop'; machine: string }
  | { op: 'machine'; machine: Pick<Machine, 'name' | 'target'> }
  | { op: 'machine.cursor'; name: string; cursor: LogCursor | null }
  | { op: 'machine.delete'; name: string }
