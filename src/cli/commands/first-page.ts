import { createCatalog } from '../../agents/catalog.ts'
import { driversWith } from '../../agents/drivers.ts'
import { reportAgents, type AgentReport } from '../../agents/report.ts'
import { loadConfig } from '../../config/config.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { clean } from '../format.ts'

/** How long somebody waits for a page. */
const LOOK_MS = 3000

/** For somebody who has just installed it, or whose daemon does not run: what to do next. */
export async function firstPage(cli: Cli): Promise<number> {
  const agents = await Promise.race([agentsHere(cli), nobody()])
  const say = (command: string, about: string): void =>
    cli.print(`  ${cli.paint('bold', command.padEnd(30))} ${about}`)
  cli.print('Corral runs coding agents as sessions that last. No daemon is running yet.')
  cli.print(agentsText(agents))
  cli.print('')
  say('corral new "What is this?"', 'start a session here, and the daemon with it')
  say('corral open', 'the dashboard in your browser')
  say('corral doctor', 'check what is installed, and how to fix it')
  say('corral --help', 'all commands')
  return EXIT.ok
}

function agentsText(agents: AgentReport[] | null): string {
  if (agents === null) return 'Agents on this machine: corral agent ls looks for them.'
  const real = agents.filter(({ name, installed }) => installed && name !== 'demo')
  if (real.length === 0)
    return 'No agent is installed here; you can try everything with the built-in demo agent.'
  const names = real.map(
    ({ name, version, signedIn }) =>
      `${clean(name)}${version === null ? '' : ` ${clean(version)}`}${signedIn === false ? ' (not signed in)' : ''}`,
  )
  return `Agents installed here: ${names.join(', ')}`
}

async function agentsHere({ env, home }: Cli): Promise<AgentReport[]> {
  const { customAgents } = await loadConfig({ env, flags: { home } })
  return reportAgents(createCatalog(driversWith(customAgents), env))
}

function nobody(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), LOOK_MS).unref())
}
