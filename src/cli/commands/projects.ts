import { resolve } from 'node:path'
import { uuid } from '../../core/ids.ts'
import type { Api, NativeClient } from '../../dialects/native/client.ts'
import { given, text, type Cli, type Command } from '../cli.ts'
import { clean, duration, prefixed, shortId } from '../format.ts'
import { pickId } from '../resolve.ts'

type Project = Api['project.get']['result']

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const { projects } = await client.call('project.list')
    if (cli.json) return projects.forEach(cli.printJson)
    if (cli.options['quiet']) return projects.forEach(({ id }) => cli.print(id))
    if (projects.length === 0) return cli.note('no projects yet; make one with: corral projects create NAME')
    for (const project of projects) show(cli, project)
  })

function show(cli: Cli, project: Project): void {
  if (cli.json) return cli.printJson(project)
  const { id, name, lastActiveAt, repos } = project
  const active = `active ${duration(Date.now() - lastActiveAt)} ago`
  cli.print(`${cli.paint('bold', shortId(id))}  ${clean(name)}  ${cli.paint('dim', active)}`)
  for (const { path } of repos) cli.print(prefixed(clean(path), '  '))
}

export const create: Command = (cli, [words]) =>
  cli.withDaemon(async (client) => {
    const root = text(cli.options['root'])
    const repos = (cli.options['repo'] ?? []) as string[]
    const project = await client.call('project.create', {
      id: uuid(),
      name: (words as string[]).join(' '),
      ...given(cli.options, 'description'),
      ...(root !== undefined && { rootPath: resolve(root) }),
      ...(repos.length > 0 && { repos: repos.map((path) => resolve(path)) }),
    })
    show(cli, project)
  })

export const remove: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const { id, name } = await find(client, String(fragment))
    await client.call('project.delete', { projectId: id })
    if (cli.json) cli.printJson({ projectId: id })
    else cli.print(`forgot ${clean(name)}`)
  })

/** A command that changes the repositories of a project and shows it. */
function withRepo(name: 'project.addRepo' | 'project.removeRepo'): Command {
  return (cli, [fragment, directory]) =>
    cli.withDaemon(async (client) => {
      const { id } = await find(client, String(fragment))
      show(cli, await client.call(name, { projectId: id, path: resolve(text(directory) ?? '.') }))
    })
}

export const addRepo = withRepo('project.addRepo')
export const removeRepo = withRepo('project.removeRepo')

/** By its name, or a part of its id. */
async function find(client: NativeClient, fragment: string): Promise<Project> {
  const { projects } = await client.call('project.list')
  const named = projects.filter(({ name }) => name === fragment)
  if (named.length === 1) return named[0]!
  const id = pickId(
    'project',
    fragment,
    projects.map((project) => project.id),
  )
  return projects.find((project) => project.id === id)!
}
