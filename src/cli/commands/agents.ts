import { ABILITIES } from '../../core/capability.ts'
import type { Capabilities } from '../../core/ports.ts'
import type { Api } from '../../dialects/native/client.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, table } from '../format.ts'
import { limitsText } from '../limits.ts'

type Agent = Api['agents.list']['result']['agents'][number]
type Models = Api['agents.models']['result']['models']

const NAMES = Object.keys(ABILITIES) as (keyof Capabilities)[]

export const agents: Command = (cli, [name]) =>
  cli.withDaemon(async (client) => {
    const all = (await client.call('agents.list')).agents
    const found = name === undefined ? all : all.filter((agent) => agent.name === name)
    if (found.length === 0) throw unknown(String(name), all)
    if (cli.options['quiet'] && !cli.json) {
      return found.filter((agent) => agent.installed).forEach((agent) => cli.print(agent.name))
    }
    if (name !== undefined) {
      const { models } = await client.call('agents.models', { agent: found[0]!.name })
      if (cli.json) return cli.printJson({ ...found[0], models })
      const parts = [summary(cli, found), details(cli, found[0]!), ...offered(cli, models)]
      return cli.print(parts.join('\n\n'))
    }
    if (cli.json) return found.forEach(cli.printJson)
    cli.print(cli.options['capabilities'] ? compared(cli, found) : summary(cli, found))
  })

function unknown(name: string, all: Agent[]): CliError {
  const known = all.map((agent) => agent.name).join(', ')
  return new CliError(`no agent is called ${clean(name)}; there are ${known}`, EXIT.usage)
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

/** What is left of the account, where it was told. */
function limits({ name, limits: known }: Agent): string[] {
  return known ? [`${clean(name)}: ${limitsText(known, Date.now())}`] : []
}

function access(cli: Cli, { installed, signedIn }: Agent): string {
  if (!installed || signedIn === null) return ''
  return signedIn ? 'signed in' : cli.paint('yellow', 'not signed in')
}

/** Where it is, or what to do about it. */
function remark({ installed, problem, path, signedIn, signIn }: Agent): string {
  if (!installed) return problem ?? ''
  return (signedIn === false ? signIn : path) ?? ''
}

function details(cli: Cli, { capabilities }: Agent): string {
  return table(
    NAMES.map((one) => [yesNo(cli, capabilities[one]), words(one), cli.paint('dim', ABILITIES[one])]),
  )
}

/** What it has told of its models. */
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
