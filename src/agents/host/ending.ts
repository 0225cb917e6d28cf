import { afterInterrupt, type EndTimes, type Escalation } from './escalation.ts'
import type { HostDeps } from './deps.ts'
import type { Roster } from './roster.ts'
import type { Run } from './run.ts'

interface EndingDeps extends Pick<HostDeps, 'session' | 'options' | 'warn'> {
  roster: Roster
  ladder: Escalation
}

/** Stops turns, and ends processes: politely first, and at last by force. */
export class Ending {
  readonly #deps: EndingDeps

  constructor(deps: EndingDeps) {
    this.#deps = deps
  }

  isBusy(sessionId: string): boolean {
    return (this.#deps.session(sessionId)?.turn ?? null) !== null
  }

  /** Resolves when the session has no process, and none that is being started. */
  async end(sessionId: string, times?: EndTimes): Promise<void> {
    const { runs, starting } = this.#deps.roster
    const underWay = starting.get(sessionId)
    if (underWay) await underWay.catch(() => undefined)
    const run = runs.get(sessionId)
    if (run) await this.endRun(run, times)
  }

  async endRun(run: Run, { termMs, killMs }: EndTimes = this.#deps.options): Promise<void> {
    const { session, ladder } = this.#deps
    if (run.over) return run.gone // it has ended by itself, which is another thing to tell
    if (!run.alone()) return this.#leave(run, killMs)
    run.shut()
    run.lookBelow()
    run.signal('SIGCONT')
    if (this.isBusy(run.sessionId) || session(run.sessionId)?.destroyed) {
      run.signal('SIGTERM')
      ladder.start(run, [['SIGKILL', killMs]])
    } else if (!run.ending || run.refused) {
      const farewell = run.driver.farewell()
      run.write(farewell).catch(() => undefined)
      ladder.start(run, [
        ['SIGTERM', farewell.length > 0 ? termMs : 0],
        ['SIGKILL', killMs],
      ])
    }
    run.ending = true
    await run.gone
  }

  /** Out of a process that others need; a turn that runs is stopped first. */
  async #leave(run: Run, patienceMs: number): Promise<void> {
    const session = this.#deps.session(run.sessionId)
    const busy = run.busy()
    run.ending = true
    if (session && busy) await run.write(run.driver.interrupt(session)).catch(() => undefined)
    await run.leave(session, busy ? patienceMs : 0)
  }

  interrupt(sessionId: string): void {
    const { roster, ladder, options, warn } = this.#deps
    const run = roster.runs.get(sessionId)
    if (!run || roster.starting.has(sessionId)) return // its message has not been written: delivery will see
    run.signal('SIGCONT')
    const session = this.#deps.session(sessionId)
    const lines = session ? run.driver.interrupt(session) : []
    run.write(lines).catch((error) => warn('interrupting an agent', error))
    ladder.start(run, afterInterrupt(options))
  }
}
