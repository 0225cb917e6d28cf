import type { AgentHost } from '../../core/ports.ts'
import { ANYWHERE } from '../agent.ts'
import { Adoption } from './adoption.ts'
import { createConversations } from './conversations.ts'
import { Delivery } from './delivery.ts'
import type { HostDeps } from './deps.ts'
import { Ending } from './ending.ts'
import { createEscalation, type EndTimes } from './escalation.ts'
import { startHeartbeat } from './heartbeat.ts'
import { Idling } from './idling.ts'
import { takeUp } from './inheritance.ts'
import { Inquiry } from './inquiry.ts'
import { createLauncher } from './launcher.ts'
import type { Roster } from './roster.ts'
import { createSeats } from './seats.ts'
import { Spares } from './spares.ts'
import { Starter } from './starter.ts'
import { sweep } from './sweep.ts'

export interface Host extends AgentHost {
  /** Processes that wait for sessions of one kind; `keep` says how many. */
  readonly spares: Pick<Spares, 'keep' | 'count'>
  /** Live processes, for status reports. */
  running(): { sessionId: string; pid: number; busy: boolean }[]
  /** Ends the processes of these sessions, but for those that are at work; resolves when they are gone. */
  cool(sessionIds: readonly string[]): Promise<void>
  /** These agents are given something else from now on: their processes start anew, each when it is not at work. */
  renew(agents: readonly string[]): Promise<void>
  /** Ends every process; resolves when they are gone. */
  endAll(): Promise<void>
  /** Lets go of every process without touching it: the next daemon finds it. */
  release(): void
}

/** When everything ends, it does so quickly. */
const LAST_ORDERS: EndTimes = { termMs: 1000, killMs: 1500 }

export function createHost(deps: HostDeps): Host {
  const { catalog, options } = deps
  const { roster, ladder, ending, idling, spares, inquiry, starter, delivery, ...parts } = assemble(deps)
  for (const agent of options.spare ? catalog.names() : []) spares.keep(agent, ANYWHERE, 1)
  const heartbeat = startHeartbeat(deps)
  const evictMs = Math.min(10_000, Math.max(250, options.idleMs / 4))
  const housekeeping = setInterval(() => idling.evict(), evictMs).unref()

  return {
    prompt: (...message) => delivery.prompt(...message),
    tell: (sessionId, intent) => delivery.tell(sessionId, intent),
    steer: (...steer) => delivery.steer(...steer),
    retract: (sessionId, steerId) => delivery.retract(sessionId, steerId),
    interrupt: (sessionId) => ending.interrupt(sessionId),
    pause: (sessionId) => roster.runs.get(sessionId)?.signal('SIGSTOP'),
    resume: (sessionId) => roster.runs.get(sessionId)?.signal('SIGCONT'),
    end: (sessionId) => ending.end(sessionId),
    async attach(rows, sessions) {
      sweep(options.runsDir, new Set(rows.map((row) => row.process)))
      spares.fill()
      const heir = { ...deps, ...parts, roster, sharing: starter.sharing }
      const alive = new Set<string>()
      await Promise.all(
        rows.map(async (row) => {
          const session = sessions.get(row.sessionId)
          if (session && (await takeUp(heir, row, session))) alive.add(session.id)
        }),
      )
      return alive
    },
    models: (agent) => inquiry.models(agent),
    spares,
    running: () =>
      [...roster.runs.values()].map(({ sessionId, pid }) => ({
        sessionId,
        pid,
        busy: ending.isBusy(sessionId),
      })),
    cool: (sessionIds) => idling.end((run) => sessionIds.includes(run.sessionId)),
    renew(agents) {
      spares.renew(agents)
      return idling.end((run) => agents.includes(run.driver.name))
    },
    async endAll() {
      const sessions = new Set([...roster.runs.keys(), ...roster.starting.keys()])
      const ends = () => [...sessions].map((id) => ending.end(id, LAST_ORDERS))
      await Promise.all([spares.end(), inquiry.end(), ...ends()])
    },
    release() {
      roster.released = true
      void spares.end()
      void inquiry.end()
      clearInterval(heartbeat)
      clearInterval(housekeeping)
      ladder.stopAll()
      for (const run of roster.runs.values()) run.detach()
    },
  }
}

/** The parts of a host, each given those that it needs. */
function assemble(deps: HostDeps) {
  const { options } = deps
  const roster: Roster = { runs: new Map(), starting: new Map(), released: false }
  const ladder = createEscalation()
  const seats = createSeats(options.runsDir)
  const ending = new Ending({ ...deps, roster, ladder })
  const idling = new Idling({ ...deps, roster, ending })
  const conversations = createConversations({
    isBusy: (sessionId) => ending.isBusy(sessionId),
    end: (sessionId) => ending.end(sessionId),
  })
  const adoption = new Adoption({ ...deps, roster, ladder, seats, ending, conversations })
  const launch = createLauncher(deps)
  const spares = new Spares({ ...deps, launch, parkingDir: options.runsDir })
  const inquiry = new Inquiry({ ...deps, launch, directory: options.runsDir })
  const { reserve } = seats
  const starter = new Starter({ ...deps, roster, launch, spares, adoption, conversations, reserve, ending })
  const delivery = new Delivery({
    ...deps,
    roster,
    ensure: (session) => starter.ensure(session),
    interrupt: (sessionId) => ending.interrupt(sessionId),
  })
  return { roster, ladder, ending, idling, conversations, adoption, spares, inquiry, starter, delivery }
}
