import type { Api } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { ago, clean, table } from '../format.ts'

type Machine = Api['machine.list']['result']['machines'][number]

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const { machines, fleet } = await client.call('machine.list')
    if (fleet?.state === 'joining')
      cli.note(`this machine, ${fleet.name}, is not in the fleet: ${clean(fleet.reason ?? 'not yet')}`)
    if (cli.json) return machines.forEach(cli.printJson)
    if (cli.options['quiet']) return machines.forEach(({ name }) => cli.print(name))
    if (machines.length === 0 && fleet)
      return cli.note(`nobody but this machine, ${fleet.name}, is in the fleet`)
    if (machines.length === 0)
      return cli.note('this machine is alone; add another with: corral machine add user@host')
    cli.print(table([['STATE', 'NAME', 'SESSIONS', 'VERSION', 'REACHED BY'], ...machines.map(row)]))
    for (const one of machines) if (one.state === 'away') cli.note(why(one))
  })

function row({ name, state, sessions, version = '', target }: Machine): string[] {
  return [state, name, String(sessions), version, clean(target)]
}

function why({ name, reason = '', since }: Machine): string {
  return `${name} went away ${since === undefined ? '' : `${ago(since)} `}: ${clean(reason)}`.replace(
    ' : ',
    ': ',
  )
}

export const add: Command = (cli, [given]) =>
  cli.withDaemon(async (client) => {
    const target = String(given)
    const name = text(cli.options['name']) ?? nameFrom(target)
    const machine = await client.call('machine.add', { name, target })
    if (cli.json) return cli.printJson(machine)
    cli.print(`added ${name}`)
    cli.note(`its sessions are in: corral ls --on ${name}`)
  })

/** The host of a target for ssh. */
function nameFrom(target: string): string {
  const host = /^(?:ssh:\/\/)?(?:[^@/]*@)?([a-z0-9][a-z0-9._-]*)/i.exec(target)?.[1]
  if (host === undefined)
    throw new CliError(`give it a name: corral machine add ${clean(target)} --name NAME`, EXIT.usage)
  return host.slice(0, 63)
}

export const remove: Command = (cli, [given]) =>
  cli.withDaemon(async (client) => {
    const { name } = await client.call('machine.remove', { name: String(given) })
    done(cli, name)
  })

function done(cli: Cli, name: string): void {
  if (cli.json) cli.printJson({ name })
  else cli.print(`removed ${name}; its sessions go on there`)
}
