import { join } from 'node:path'
import type { AgentOutput } from '../../core/event.ts'
import type { RunRow } from '../../core/ports.ts'
import type { AgentDriver } from '../agent.ts'
import { createAnswering } from './answering.ts'
import type { HostDeps } from './deps.ts'
import type { Conversations } from './conversations.ts'
import type { Ending } from './ending.ts'
import type { Escalation } from './escalation.ts'
import type { Roster } from './roster.ts'
import { Run } from './run.ts'
import type { Seats } from './seats.ts'

interface AdoptionDeps extends Pick<HostDeps, 'sink' | 'session' | 'committed' | 'env' | 'options' | 'warn'> {
  roster: Roster
  ladder: Escalation
  seats: Seats
  conversations: Conversations
  ending: Ending
}

/** Makes a run of a process that is written down. */
export class Adoption {
  readonly #deps: AdoptionDeps

  constructor(deps: AdoptionDeps) {
    this.#deps = deps
  }

  adopt(row: RunRow, driver: AgentDriver): Run {
    const { roster, seats, sink, session, committed, env, options, warn } = this.#deps
    const run = new Run({
      row,
      dir: join(options.runsDir, row.process),
      seat: seats.take(row.process, row.id),
      session: () => session(row.sessionId),
      vacate: () => seats.vacate(row.process),
      driver,
      service: driver.serve?.(env),
      sink,
      committed,
      warn,
      onOutput: (outputs) => this.#heed(run, outputs),
      onRequest: (request) => answering.take(request),
      tidyUp: (since) => this.#tidyUp(run, since),
      onExit: () => this.#forget(run),
    })
    const answering = createAnswering(run, {
      answer: (request) => run.answer(request),
      failed: (error) => warn(`answering agent ${run.pid}`, error),
    })
    roster.runs.set(row.sessionId, run)
    this.#awaitReady(run).catch((error) => warn(`agent ${row.pid}`, error))
    if (roster.released) run.detach()
    return run
  }

  #heed(run: Run, outputs: AgentOutput[]): void {
    for (const output of outputs) {
      if (output.type === 'agent.init' && output.nativeId) {
        this.#deps.conversations.learn(run.driver.name, output.nativeId, run.sessionId)
      }
      if (output.type !== 'turn.ended') continue
      run.usedAt = Date.now()
      if (!run.ending) this.#deps.ladder.stop(run.sessionId)
    }
  }

  async #tidyUp(run: Run, since: number): Promise<void> {
    try {
      const session = this.#deps.session(run.sessionId)
      if (session) await run.driver.afterExit?.(session, since)
    } catch (error) {
      this.#deps.warn(`tidying up after agent ${run.pid}`, error)
    }
  }

  #forget(run: Run): void {
    const { roster, ladder, conversations } = this.#deps
    if (roster.runs.get(run.sessionId) !== run) return
    ladder.stop(run.sessionId)
    conversations.free(run.sessionId)
    roster.runs.delete(run.sessionId)
  }

  /** A process that cannot open its conversation, or takes too long over it, makes room for another try. */
  async #awaitReady(run: Run): Promise<void> {
    const { roster, ending, options } = this.#deps
    const late = (): unknown => (roster.released ? undefined : ending.endRun(run))
    const timer = setTimeout(late, options.readyMs).unref()
    const problem = await run.ready
    clearTimeout(timer)
    if (problem && !run.over) await ending.endRun(run)
  }
}
