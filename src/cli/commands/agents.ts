import { ABILITIES } from '../../core/capability.ts'
import type { Capabilities } from '../../core/capabilities.ts'
import type { Api, NativeClient } from '../../client/client.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, table } from '../format.ts'
import { limitsText } from '../limits.ts'

type Agent = Api['agents.list']['result']['agents'][number]
type Models = Api['agents.models']['result']['models']

const NAMES = Object.keys(ABILITIES) as (keyof Capabilities)[]

export const list: Command = (cli, [name]) =>
  cli.withDaemon(async (client) => {
    const found = await agentsOf(client, name)
    if (cli.json) return found.forEach(cli.printJson)
    if (cli.options['quiet']) {
      return found.filter((agent) => agent.installed).forEach((agent) => cli.print(agent.name))
    }
    cli.print(cli.options['capabilities'] ? compared(cli, found) : summary(cli, found))
  })

export const show: Command = (cli, [name]) =>
  cli.withDaemon(async (client) => {
    const [agent] = await agentsOf(client, name)
    const { models } = await client.call('agents.models', { agent: agent!.name })
    if (cli.json) return cli.printJson({ ...agent, models })
    cli.print([summary(cli, [agent!]), details(cli, agent!), ...offered(cli, models)].join('\n\n'))
  })

/** `corral agents claude`. */
export const bare: Command = (cli, [name]) =>
  name === undefined || (cli.options['quiet'] && !cli.json) ? list(cli, [name]) : show(cli, [name])

/** All of them, or the one with this name. */
async function agentsOf(client: NativeClient, name: unknown): Promise<Agent[]> {
  const { agents } = await client.call('agents.list')
  const found = agents.filter((agent) => name === undefined || agent.name === name)
  if (found.length > 0) return found
  const known = agents.map((agent) => agent.name).join(', ')
  throw new CliError(`no agent called ${clean(String(name))}; this Corral knows: ${known}`, EXIT.usage)
}

function summary(cli: Cli, found: Agent[]): string {
  const rows = table(
    found.map((agent) => [
      agent.installed ? cli.paint('green', 'yes') : cli.paint('dim', 'no'),
      cli.paint('bold', clean(agent.name)),
      clean(agent.version ?? ''),
      access(cli, agent),
      clean(remark(agent)),
    ]),
  )
  return [rows, ...found.flatMap(limits)].join('\n')
}

/** How much of the account is used, if the agent has said so. */
function limits({ name, limits: known }: Agent): string[] {
  return known ? [`${clean(name)}: ${limitsText(known, Date.now())}`] : []
}

function access(cli: Cli, { installed, signedIn }: Agent): string {
  if (!installed || signedIn === null) return ''
  return signedIn ? 'signed in' : cli.paint('yellow', 'not signed in')
}

/** Where it is, or what to do to use it. */
function remark({ installed, problem, path, signedIn, signIn }: Agent): string {
  if (!installed) return problem ?? ''
  return (signedIn === false ? signIn : path) ?? ''
}

function details(cli: Cli, { capabilities }: Agent): string {
  return table(
    NAMES.map((one) => [yesNo(cli, capabilities[one]), words(one), cli.paint('dim', ABILITIES[one])]),
  )
}

/** The models that the agent has named. */
function offered(cli: Cli, models: Models): string[] {
  if (models.length === 0) return []
  return [table(models.map(({ id, name }) => [clean(id), cli.paint('dim', clean(name))]))]
}

function compared(cli: Cli, found: Agent[]): string {
  const head = ['', ...found.map((agent) => cli.paint('bold', clean(agent.name)))]
  const rows = NAMES.map((one) => [words(one), ...found.map((agent) => yesNo(cli, agent.capabilities[one]))])
  return table([head, ...rows])
}

function yesNo(cli: Cli, can: boolean): string {
  return can ? cli.paint('green', 'yes') : cli.paint('dim', 'no')
}

/** `setModel` as people say it. */
function words(capability: string): string {
  return capability.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
