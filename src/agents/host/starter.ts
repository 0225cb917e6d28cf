import { existsSync } from 'node:fs'
import { CorralError } from '../../core/error.ts'
import type { RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import { ANYWHERE, type AgentDriver } from '../agent.ts'
import type { HostDeps } from './deps.ts'
import type { Adoption } from './adoption.ts'
import type { Conversations } from './conversations.ts'
import type { Ending } from './ending.ts'
import { type Launcher, tell } from './launcher.ts'
import { untilCommitted } from './patience.ts'
import { BOOT_ID, signalGroup, startTime } from './process.ts'
import type { Roster } from './roster.ts'
import type { Run } from './run.ts'
import type { Seats } from './seats.ts'
import { Sharing } from './sharing.ts'
import { discard, REFILL_MS, type Spares } from './spares.ts'
import type { Launched } from './wrapper.ts'

interface StarterDeps extends Omit<HostDeps, 'committed' | 'credentials'> {
  roster: Roster
  launch: Launcher
  spares: Spares
  adoption: Adoption
  conversations: Conversations
  reserve: Seats['reserve']
  ending: Ending
}

/** Finds a process for a session, or starts one. */
export class Starter {
  readonly sharing: Sharing
  readonly #deps: StarterDeps

  constructor(deps: StarterDeps) {
    this.#deps = deps
    this.sharing = new Sharing({ ...deps, follow: (row, driver) => this.#follow(row, driver) })
  }

  /** The session's process; a new one if it has none, or one that is on its way out. */
  async ensure(session: Session): Promise<Run> {
    const { runs, starting } = this.#deps.roster
    const underWay = starting.get(session.id)
    if (underWay) return underWay
    const run = runs.get(session.id)
    if (run && !run.ending && !run.over && !run.worn()) return run
    const started = this.#replace(session.id, run).finally(() => starting.delete(session.id))
    starting.set(session.id, started)
    return started
  }

  async #replace(sessionId: string, run: Run | undefined): Promise<Run> {
    if (run?.worn()) await this.#deps.ending.endRun(run)
    await run?.gone
    const now = this.#deps.session(sessionId)
    if (!now || now.destroyed || this.#deps.roster.released)
      throw new CorralError('session_not_found', 'The session is gone')
    await this.#deps.conversations.claim(now)
    return this.#start(now)
  }

  /** A process for this session, written down, followed and told all that it must know before its first message. */
  async #start(session: Session): Promise<Run> {
    const { catalog, newId, env, launch } = this.#deps
    const driver = catalog.driver(session.agent)
    const detection = await catalog.find(session.agent)
    if (!detection.installed) {
      throw new CorralError('agent_missing', detection.problem ?? `${driver.title} is not installed`)
    }
    if (!existsSync(session.cwd)) {
      const message = `The session's directory is gone: ${session.cwd}`
      throw new CorralError('path_not_found', message, { path: session.cwd })
    }
    if (driver.shared) return this.sharing.join(session, driver, detection)
    const claimed = await this.#claimSpare(session, driver)
    this.#keepLike(session, driver)
    if (claimed) return claimed
    const plan = { ...driver.plan(session, detection, newId), ...(await driver.prepare?.(session, env)) }
    // Whatever the agent starts can ask in its name: `corral mcp approvals` does.
    const planEnv = { ...plan.env, CORRAL_SESSION_ID: session.id }
    return this.#enlist(session, driver, await launch({ ...plan, env: planEnv }, driver.name), false)
  }

  /** The waiting spare as this session's process; null when there is none, or it will not do. */
  async #claimSpare(session: Session, driver: AgentDriver): Promise<Run | null> {
    const spare = this.#deps.spares.take(session, driver)
    if (!spare) return null
    await tell(spare, driver.spare!.claim(session, spare.kind))
    // Where it can only be told what any process is told, there is nothing to wait for.
    const certain = spare.kind.cwd !== null
    const run = await this.#enlist(session, driver, spare, !certain)
    if (certain) return run
    if ((await run.barrier(this.#deps.newId(), session)) && !run.refused) {
      run.ending = false
      return run
    }
    await this.#deps.ending.endRun(run)
    return null
  }

  /** The next session is probably one like this: a spare that could become it is kept from now on. This session comes first. */
  #keepLike(session: Session, { name, spare }: AgentDriver): void {
    const { options, spares } = this.#deps
    const kind = { ...ANYWHERE, questions: false }
    if (!options.spare || !spare?.claimable(session, kind)) return
    setTimeout(() => spares.keep(name, kind, 1), REFILL_MS).unref()
  }

  /** Writes down that this process is the session's, then follows it. */
  async #enlist(session: Session, driver: AgentDriver, launched: Launched, ending: boolean): Promise<Run> {
    const { id, child } = launched
    const pid = child.pid!
    const identity = { id, pid, startTime: startTime(pid) ?? '', bootId: BOOT_ID }
    const row: RunRow = { ...identity, process: id, sessionId: session.id, offset: 0, turnOffset: 0 }
    try {
      await this.#deps.sink.started(session.id, row, session.nativeId !== null)
    } catch (error) {
      await discard(launched)
      throw error
    }
    try {
      return await this.#follow(row, driver, (run) => {
        run.ending = ending
        child.once('exit', () => run.check())
      })
    } catch (error) {
      // It is written down: a daemon that only lets go leaves it to the next one.
      if (!this.#deps.roster.released) signalGroup(pid, 'SIGKILL')
      throw error
    }
  }

  /** A run of a process that is written down; if it cannot be followed, that is written down too. */
  async #follow(row: RunRow, driver: AgentDriver, before?: (run: Run) => void): Promise<Run> {
    const { adoption, sink, roster, warn } = this.#deps
    try {
      const run = adoption.adopt(row, driver)
      before?.(run)
      await run.follow()
      return run
    } catch (error) {
      const exit = { code: null, signal: null, stderr: String(error), expected: true }
      await untilCommitted(() => sink.exited(row.sessionId, row.id, exit), {
        stopped: () => roster.released,
        failed: (problem) => warn('noting that an agent could not be followed', problem),
      })
      throw error
    }
  }
}
