/** What an agent can do. What it cannot is refused, never ignored. */
export interface Capabilities {
  streaming: boolean
  thinking: boolean
  approvals: boolean
  images: boolean
  /** PDF. */
  documents: boolean
  resume: boolean
  /** Goes on with a conversation in another directory than it began in. */
  relocate: boolean
  fork: boolean
  cost: boolean
  setModel: boolean
  /** Thinks for as long as it is told, also from one turn to the next. */
  effort: boolean
  setMode: boolean
  /** Takes a message in the middle of a turn. */
  steer: boolean
  /** Runs a tool with another input than the one it asked about. */
  editInput: boolean
  /** Hears why a human said no. */
  denyComment: boolean
  /** Its process can be held up in the middle of a turn. */
  pause: boolean
  survivesRestart: boolean
  /** Calls tools that its client carries out. */
  clientTools: boolean
  /** Has no tools of its own if told so. */
  bare: boolean
  /** Sums up its conversation when it is told to. */
  compact: boolean
}
