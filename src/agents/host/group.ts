import type { RunRow } from '../../core/ports.ts'
import { BOOT_ID, signalGroup, startTime } from './process.ts'

const LOOK_MS = 5
const LOOKS = 200

/** The group of an agent's process, known by pid, start time and boot. */
export class Group {
  readonly #row: RunRow

  constructor(row: RunRow) {
    this.#row = row
  }

  alive(): boolean {
    return this.#row.bootId === BOOT_ID && startTime(this.#row.pid) === this.#row.startTime
  }

  /** Its pid is not somebody else's by now; the leader of a group may be gone before the rest of it. */
  ours(): boolean {
    return this.#row.bootId === BOOT_ID && [this.#row.startTime, null].includes(startTime(this.#row.pid))
  }

  signal(name: NodeJS.Signals): void {
    signalGroup(this.#row.pid, name)
  }

  /** What was told to go takes a moment. */
  async untilDead(): Promise<void> {
    for (let tries = 0; this.alive() && tries < LOOKS; tries++)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }

  /** Nobody needs it any more. */
  async end(): Promise<void> {
    if (this.alive()) this.signal('SIGTERM')
    await this.untilDead()
    if (this.ours()) this.signal('SIGKILL')
  }
}
