/** The frames of one connection. While an answer is on its way, what it has caused waits here. */
export class Outbox {
  readonly #send: (frame: Buffer) => boolean
  readonly #limit: number
  #holds = 0
  #waiting: Buffer[] = []
  #waitingBytes = 0

  /** `send` returns false when no more should come before there is space again; `limit`: bytes that may wait. */
  constructor(send: (frame: Buffer) => boolean, limit: number) {
    this.#send = send
    this.#limit = limit
  }

  get held(): boolean {
    return this.#holds > 0
  }

  /** Each needs its release. */
  hold(): void {
    this.#holds += 1
  }

  /** Whether everything is out, and more may come. */
  release(): boolean {
    this.#holds -= 1
    if (this.held) return false
    const frames = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    return this.put(frames)
  }

  /** False: no more before there is space again. */
  put(frames: readonly Buffer[]): boolean {
    if (this.held) {
      this.#waiting.push(...frames)
      for (const { length } of frames) this.#waitingBytes += length
      return this.#waitingBytes < this.#limit
    }
    let hasSpace = true
    for (const frame of frames) hasSpace = this.#send(frame)
    return hasSpace
  }
}
