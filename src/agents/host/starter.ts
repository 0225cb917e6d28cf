import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CorralError } from '../../core/error.ts'
import type { AgentSink, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import { ANYWHERE, type AgentDriver, type LaunchPlan } from '../agent.ts'
import type { Catalog } from '../catalog.ts'
import { openFifo } from './fifo.ts'
import { createInquiry, type Inquiry } from './inquiry.ts'
import { untilCommitted } from './patience.ts'
import { BOOT_ID, signalGroup, startTime } from './process.ts'
import type { Run } from './run.ts'
import type { Seats } from './seats.ts'
import { createSharing } from './sharing.ts'
import { createSpares, discard, REFILL_MS, type Spares } from './spares.ts'
import { launch, runFiles, type Launched } from './wrapper.ts'

interface StarterDeps {
  catalog: Catalog
  sink: AgentSink
  env: NodeJS.ProcessEnv
  credentials?: (agent: string) => Promise<Record<string, string>>
  newId: () => string
  options: { runsDir: string; aliveFile: string; orphanMs: number; spare: boolean }
  warn: (message: string, error: unknown) => void
  released: () => boolean
  /** Makes a run of a process that is written down. */
  adopt: (row: RunRow, driver: AgentDriver) => Run
  reserve: Seats['reserve']
  /** Ends a run that turned out to be of no use. */
  endRun: (run: Run) => Promise<void>
}

export interface Starter {
  /** A process for this session, written down, followed and told all that it must know before its first message. */
  start(session: Session): Promise<Run>
  /** A process that an earlier daemon left; others may share it. */
  takeUp(row: RunRow, driver: AgentDriver): void
  spares: Spares
  inquiry: Inquiry
}

export function createStarter(deps: StarterDeps): Starter {
  const { catalog, sink, options, newId, warn } = deps
  const spares = createSpares({
    catalog,
    launch: launchTold,
    parkingDir: options.runsDir,
    newId,
    warn,
  })

  const inquiry = createInquiry({ ...deps, launch: launchTold, directory: options.runsDir })

  for (const agent of options.spare ? catalog.names() : []) spares.keep(agent, ANYWHERE, 1)

  /** What it is told at once is written before anything is noted: a crash in between leaves a process that is swept. */
  async function launchTold(plan: LaunchPlan, agent: string): Promise<Launched> {
    const env = { ...deps.env, ...(await deps.credentials?.(agent)) }
    const id = newId()
    const dir = join(options.runsDir, id)
    const { aliveFile, orphanMs } = options
    const launched = { id, dir, child: await launch({ dir, plan, env, aliveFile, orphanMs }) }
    await tell(launched, plan.greeting)
    return launched
  }

  /** More than the FIFO holds takes as long as the agent takes to read it, or dies. */
  async function tell({ dir, child }: Launched, lines: string[]): Promise<void> {
    const fifo = openFifo(runFiles(dir).input)
    const died = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    await Promise.race([fifo.write(lines), died]).finally(() => fifo.close())
  }

  /** Writes down that this process is the session's, then follows it. */
  async function enlist(
    session: Session,
    driver: AgentDriver,
    launched: Launched,
    ending: boolean,
  ): Promise<Run> {
    const { id, child } = launched
    const pid = child.pid!
    const identity = { id, pid, startTime: startTime(pid) ?? '', bootId: BOOT_ID }
    const row: RunRow = { ...identity, process: id, sessionId: session.id, offset: 0, turnOffset: 0 }
    try {
      await sink.started(session.id, row, session.nativeId !== null)
    } catch (error) {
      await discard(launched)
      throw error
    }
    try {
      return await follow(row, driver, (run) => {
        run.ending = ending
        child.once('exit', () => run.check())
      })
    } catch (error) {
      // It is written down: a daemon that only lets go leaves it to the next one.
      if (!deps.released()) signalGroup(pid, 'SIGKILL')
      throw error
    }
  }

  /** A run of a process that is written down; if it cannot be followed, that is written down too. */
  async function follow(row: RunRow, driver: AgentDriver, before?: (run: Run) => void): Promise<Run> {
    try {
      const run = deps.adopt(row, driver)
      before?.(run)
      await run.follow()
      return run
    } catch (error) {
      const exit = { code: null, signal: null, stderr: String(error), expected: true }
      await untilCommitted(() => sink.exited(row.sessionId, row.id, exit), {
        stopped: deps.released,
        failed: (problem) => warn('noting that an agent could not be followed', problem),
      })
      throw error
    }
  }

  const sharing = createSharing({ ...deps, launch: launchTold, follow })

  /** The next session is probably one like this: a spare that could become it is kept from now on. This session comes first. */
  function keepLike(session: Session, { name, spare }: AgentDriver): void {
    const kind = { ...ANYWHERE, questions: false }
    if (!options.spare || !spare?.claimable(session, kind)) return
    setTimeout(() => spares.keep(name, kind, 1), REFILL_MS).unref()
  }

  /** The waiting spare as this session's process; null when there is none, or it will not do. */
  async function claimSpare(session: Session, driver: AgentDriver): Promise<Run | null> {
    const spare = spares.take(session, driver)
    if (!spare) return null
    await tell(spare, driver.spare!.claim(session, spare.kind))
    // Where it can only be told what any process is told, there is nothing to wait for.
    const certain = spare.kind.cwd !== null
    const run = await enlist(session, driver, spare, !certain)
    if (certain) return run
    if ((await run.barrier(newId(), session)) && !run.refused) {
      run.ending = false
      return run
    }
    await deps.endRun(run)
    return null
  }

  return {
    spares,
    inquiry,
    takeUp(row, driver) {
      if (driver.shared) sharing.know(row)
    },
    async start(session) {
      const driver = catalog.driver(session.agent)
      const detection = await catalog.find(session.agent)
      if (!detection.installed) {
        throw new CorralError('agent_missing', detection.problem ?? `${driver.title} is not installed`)
      }
      if (!existsSync(session.cwd)) {
        throw new CorralError('path_not_found', `The session's directory is gone: ${session.cwd}`, {
          path: session.cwd,
        })
      }
      if (driver.shared) return sharing.join(session, driver, detection)
      const claimed = await claimSpare(session, driver)
      keepLike(session, driver)
      if (claimed) return claimed
      const plan = {
        ...driver.plan(session, detection, newId),
        ...(await driver.prepare?.(session, deps.env)),
      }
      // Whatever the agent starts can ask in its name: `corral mcp approvals` does.
      const env = { ...plan.env, CORRAL_SESSION_ID: session.id }
      return enlist(session, driver, await launchTold({ ...plan, env }, driver.name), false)
    },
  }
}
