/** A picture that goes with what is said. */
export interface Picture {
  mediaType: string
  /** Base64. */
  data: string
}

/** What one turn of a real agent brought. */
export interface Told {
  text: string
  thought: string
  /** The text as it was streamed. */
  pieces: string[]
  /** What the agent asked permission for, by its own words. */
  asked: string[]
  failure: string | null
  interrupted: boolean
}

/** A real agent that tests talk to; it is given every permission that it asks for. */
export interface Talker {
  cwd: string
  turn(text: string, picture?: Picture): Promise<Told>
  /** Interrupts the turn under way. */
  interrupt(): Promise<void>
  close(): Promise<void>
}

export interface Start {
  command: string
  args: string[]
  cwd: string
  env: NodeJS.ProcessEnv
}
