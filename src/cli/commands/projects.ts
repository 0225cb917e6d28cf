import { resolve } from 'node:path'
import { uuid } from '../../core/ids.ts'
import type { Api, NativeClient } from '../../client/client.ts'
import { given, text, type Cli, type Command, type Options } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { ago, clean, fields, prefixed, shortId, table } from '../format.ts'
import { nameFrom } from '../options.ts'
import { pickOne } from '../resolve.ts'

type Project = Api['project.get']['result']

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const { projects } = await client.call('project.list')
    if (cli.json) return projects.forEach(cli.printJson)
    if (cli.options['quiet']) return projects.forEach(({ id }) => cli.print(id))
    if (projects.length === 0) return cli.note('no projects yet; make one with: corral project add NAME')
    for (const project of projects) print(cli, project)
  })

function print(cli: Cli, project: Project): void {
  if (cli.json) return cli.printJson(project)
  const { id, name, lastActiveAt, repos } = project
  const active = `active ${ago(lastActiveAt)}`
  cli.print(`${cli.paint('bold', shortId(id))}  ${clean(name)}  ${cli.paint('dim', active)}`)
  for (const { path } of repos) cli.print(prefixed(clean(path), '  '))
}

export const show: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const project = await find(client, fragment)
    if (cli.json) return cli.printJson(project)
    const { id, name, rootPath, description, createdAt, lastActiveAt, repos } = project
    const text = fields(cli.paint, [
      ['id', id],
      ['name', clean(name)],
      ['description', clean(description ?? '')],
      ['root', clean(rootPath ?? '')],
      ['made', ago(createdAt)],
      ['active', ago(lastActiveAt)],
      ...repos.map(({ path }) => ['repository', clean(path)] as const),
    ])
    cli.print(text)
  })

export const add: Command = (cli, [words]) =>
  cli.withDaemon(async (client) => {
    const repos = (cli.options['repo'] ?? []) as string[]
    const name = nameFrom(words, 'project')
    await mustBeNew(client, name)
    const project = await client.call('project.create', {
      id: uuid(),
      name,
      ...detailsOf(cli.options),
      ...(repos.length > 0 && { repos: repos.map((path) => resolve(path)) }),
    })
    print(cli, project)
  })

function detailsOf(options: Options): { description?: string; rootPath?: string } {
  const root = text(options['root'])
  return { ...given(options, 'description'), ...(root !== undefined && { rootPath: resolve(root) }) }
}

/** A command that does one thing to a project and prints it. */
function changing(
  change: (client: NativeClient, projectId: string, cli: Cli, more: unknown) => Promise<Project>,
): Command {
  return (cli, [fragment, more]) =>
    cli.withDaemon(async (client) => {
      const { id } = await find(client, fragment)
      print(cli, await change(client, id, cli, more))
    })
}

export const rename = changing(async (client, projectId, _, words) => {
  const name = nameFrom(words, 'project')
  await mustBeNew(client, name, projectId)
  return client.call('project.update', { projectId, name })
})

export const set = changing((client, projectId, { options }) => {
  const changes = detailsOf(options)
  if (Object.keys(changes).length === 0) {
    throw new CliError('nothing to change; give --root or --description', EXIT.usage)
  }
  return client.call('project.update', { projectId, ...changes })
})

export const addRepo = changing((client, projectId, _, directory) =>
  client.call('project.addRepo', { projectId, path: resolve(text(directory) ?? '.') }),
)

export const removeRepo = changing((client, projectId, _, directory) =>
  client.call('project.removeRepo', { projectId, path: resolve(text(directory) ?? '.') }),
)

export const remove: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const { id, name } = await find(client, fragment)
    await client.call('project.delete', { projectId: id })
    if (cli.json) cli.printJson({ projectId: id })
    else cli.print(`removed ${clean(name)}`)
  })

/** By its name, or a part of its id. */
async function find(client: NativeClient, fragment: unknown): Promise<Project> {
  const { projects } = await client.call('project.list')
  const named = projects.filter(({ name }) => name === fragment)
  if (named.length < 2) return named[0] ?? pickOne('project', fragment, projects, ({ id }) => id)
  // Clients of other protocols may have made them.
  const list = table(
    named.map(({ id, repos }) => [shortId(id), repos.map(({ path }) => clean(path)).join(', ')]),
  )
  throw new CliError(
    `${named.length} projects are called ${clean(String(fragment))}; give the id of one:\n${prefixed(list, '  ')}`,
  )
}

/** Two of one name could not be told apart. */
async function mustBeNew(client: NativeClient, name: string, projectId?: string): Promise<void> {
  const { projects } = await client.call('project.list')
  const other = projects.find((project) => project.id !== projectId && project.name === name.trim())
  if (other) throw new CliError(`there is a project ${clean(name)} already (${shortId(other.id)})`)
}
