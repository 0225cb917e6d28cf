import type { AgentReport } from '../agents/report.ts'
import type { LoadOptions } from '../config/config.ts'
import { pathsOf } from '../config/paths.ts'
import { judgeAgents } from './agents.ts'
import { type Check, overall } from './check.ts'
import { type Configuration, judgeConfiguration, lookAtConfiguration } from './configuration.ts'
import { judgeListeners, listenerReports } from './daemon.ts'
import { judgeDatabase, lookAtDatabase } from './database.ts'
import { judgeHome, lookAtHome } from './home.ts'
import { judgeMachine, lookAtMachine } from './machine.ts'

export interface ExamineOptions {
  env: NodeJS.ProcessEnv
  home: string
  socket: string
  flags?: LoadOptions['flags']
  /** Look at every page of the log, however long that takes. */
  thorough: boolean
}

/** All that can be seen without a daemon, but for the agents. Nothing is changed. */
export async function examine(
  options: ExamineOptions,
): Promise<{ checks: Check[]; configuration: Configuration }> {
  const { env, home, socket, thorough } = options
  const flags = { ...options.flags, home, socket }
  const [machine, found, configuration] = await Promise.all([
    lookAtMachine(env),
    lookAtHome(home),
    lookAtConfiguration({ env, flags }, { home, socket }),
  ])
  const database = lookAtDatabase(pathsOf(home).db, thorough)
  const checks = [
    ...judgeMachine(machine),
    ...judgeHome(found),
    judgeDatabase(database),
    ...judgeConfiguration(configuration),
  ]
  return { checks, configuration }
}

/** What only the daemon knows. */
export interface Inside {
  addresses: Readonly<Record<string, string>>
  /** Of listeners that are not there, or not where they should be. */
  troubles: Readonly<Record<string, string>>
  agents: readonly AgentReport[]
  /** Agents that are in the configuration. */
  own: readonly string[]
}

/** All of it, as the daemon sees it: what it has in its environment may be other than what a client has. */
export async function examineFromInside(
  options: Omit<ExamineOptions, 'thorough'>,
  { addresses, troubles, agents, own }: Inside,
): Promise<{ status: 'ok' | 'warn' | 'error'; checks: Check[] }> {
  const { checks } = await examine({ ...options, thorough: false })
  const all = [
    ...checks,
    ...judgeListeners(listenerReports(addresses, troubles)),
    ...judgeAgents(agents, own),
  ]
  return { status: overall(all), checks: all }
}
