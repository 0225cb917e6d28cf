/** One client: lines in, lines out. Where the transport has messages of its own, a line is a message. */
export interface LineConnection {
  /**
   * Queues a line (what ends it is added); what one tick brings goes out in one write. The line is always taken; false
   * says that more than the bound is unsent and nothing further should be queued before `drain`. A Buffer is one that
   * `share` made; it is not copied: what many clients get is held once.
   */
  send(line: string | Buffer): boolean
  /** A line that many connections of this kind are going to send, put into their form once. */
  readonly share: Share
  /** Does not wait for the end of the tick; within `line` it is not needed, and does nothing. */
  flush(): void
  /** Stops and resumes reading from the peer; each pause needs its resume. */
  pause(): void
  resume(): void
  /** Sends what is queued, then closes. */
  close(): void
}

/** The same function for all connections of a kind. */
export type Share = (line: string) => string | Buffer

export interface LineHandler {
  line(line: Buffer): void
  /** There is room again, after `send` was false. */
  drain?(): void
  /** A line was longer than the limit: the last chance to say so, the connection closes after this. */
  oversize?(limit: number): void
  /** The peer sends nothing more but may still read. Without this, the connection closes. */
  ended?(): void
  closed?(): void
}
