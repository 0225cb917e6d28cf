import type { HostDeps } from './deps.ts'
import type { Ending } from './ending.ts'
import type { Roster } from './roster.ts'
import type { Run } from './run.ts'

interface IdlingDeps extends Pick<HostDeps, 'options' | 'warn'> {
  roster: Roster
  ending: Ending
}

/** Processes that are not at work: they are kept while that costs little. */
export class Idling {
  readonly #deps: IdlingDeps

  constructor(deps: IdlingDeps) {
    this.#deps = deps
  }

  /** Ends what has been idle too long or is too much. */
  evict(): void {
    const { options } = this.#deps
    const idle = this.#idle().sort((a, b) => a.usedAt - b.usedAt)
    const tooOld = Date.now() - options.idleMs
    idle.forEach((run, index) => {
      const spareRoom = run.driver.shared !== undefined || idle.length - index <= options.maxWarm
      if (run.usedAt < tooOld || !spareRoom) void this.#makeRoom(run)
    })
  }

  /** Ends the idle ones among these; resolves when they are gone. */
  async end(isMeant: (run: Run) => boolean): Promise<void> {
    await Promise.all(
      this.#idle()
        .filter(isMeant)
        .map((run) => this.#makeRoom(run)),
    )
  }

  #idle(): Run[] {
    const { roster, ending } = this.#deps
    return [...roster.runs.values()].filter(
      (run) => !run.ending && !ending.isBusy(run.sessionId) && !roster.starting.has(run.sessionId),
    )
  }

  /** The session has its process no more; what that has left running in the background goes on. */
  #makeRoom(run: Run): Promise<void> {
    run.sparing = true
    return this.#deps.ending.endRun(run).catch((error) => this.#deps.warn('ending an idle agent', error))
  }
}
