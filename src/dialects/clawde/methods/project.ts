import { z } from 'zod'
import { absolutePath } from '../launch.ts'
import { method, type Context } from '../method.ts'
import { projectView, projectWithRepos, repoOf } from '../projects.ts'
import { bothWays } from '../spelling.ts'
import * as wire from '../wire.ts'

const fields = {
  rootPath: z.string().nullish().describe('its repositories are below'),
  description: z.string().nullish(),
  orgSlug: z.string().nullish(),
}
const byId = z.object({ id: z.string().min(1).describe('of the project') })
const aliases = { id: ['projectId'] }
const repo = byId.extend({ repoPath: z.string().min(1).describe('absolute') })
const repoAliases = { ...aliases, repoPath: ['path'] }
const project = z.object({
  id: z.string(),
  projectId: z.string().describe('the same as `id`'),
  name: z.string(),
  rootPath: z.string().nullable(),
  description: z.string().nullable(),
  orgSlug: z.string().nullable(),
  repoPaths: z.array(z.string()),
  createdAt: z.number().describe('seconds'),
  updatedAt: z.number(),
  lastActiveAt: z.number(),
})

const repository = z.object({
  projectId: z.string(),
  repoPath: z.string(),
  addedAt: z.number().nullable().describe('seconds'),
  lastOpenedAt: z.number().nullable(),
})

/** What is not given, or null, stays or is not set. */
function given({ rootPath, description, orgSlug }: z.output<z.ZodObject<typeof fields>>, { home }: Context) {
  return {
    ...(rootPath && { rootPath: absolutePath(rootPath, home, 'rootPath') }),
    ...(description !== undefined && { description }),
    ...(orgSlug !== undefined && { orgSlug }),
  }
}

export const projectMethods = [
  method({
    name: 'project.create',
    scope: 'use',
    repeat: 'never',
    errors: ['repoNotFound'],
    summary: 'Makes a project, with its first repositories or not at all.',
    changes: true,
    params: z.object({ name: z.string(), repoPaths: z.array(z.string()).default([]), ...fields }),
    result: project,
    async handler({ name, repoPaths, ...rest }, context) {
      const repos = repoPaths.map((path) => absolutePath(path, context.home, 'repoPaths'))
      return projectView(await context.engine.projects.create({ name, repos, ...given(rest, context) }))
    },
  }),
  method({
    name: 'project.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'All projects: an array.',
    params: wire.nothing,
    result: z.array(project),
    handler: (_, { engine }) => engine.projects.list().map(projectView),
  }),
  method({
    name: 'project.get',
    scope: 'read',
    repeat: 'read',
    errors: ['projectNotFound'],
    summary: 'A project with its repositories.',
    params: byId,
    aliases,
    result: project.extend({ project, repos: z.array(repository) }),
    handler: ({ id }, { engine }) => projectWithRepos(engine.projects.get(id)),
  }),
  method({
    name: 'project.update',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['projectNotFound', 'repoNotFound'],
    summary: 'Changes what is given.',
    changes: true,
    params: byId.extend({ name: z.string().exactOptional(), ...fields }),
    aliases,
    result: project,
    async handler({ id, name, ...rest }, context) {
      const changes = { ...(name !== undefined && { name }), ...given(rest, context) }
      return projectView(await context.engine.projects.update({ projectId: id, ...changes }))
    },
  }),
  method({
    name: 'project.delete',
    scope: 'use',
    repeat: 'never',
    errors: ['projectNotFound'],
    summary: 'Removes a project; its repositories stay as they are.',
    changes: true,
    params: byId,
    aliases,
    result: z.object({ deleted: z.boolean(), id: z.string(), projectId: z.string() }),
    async handler({ id }, { engine }) {
      await engine.projects.remove(id)
      return bothWays({ deleted: true, id, projectId: id })
    },
  }),
  method({
    name: 'project.addRepo',
    scope: 'use',
    repeat: 'never',
    errors: ['projectNotFound', 'repoNotFound', 'repoAlreadyInProject'],
    summary: 'Adds a git repository.',
    changes: true,
    params: repo,
    aliases: repoAliases,
    result: repository,
    async handler({ id, repoPath }, { engine, home }) {
      const path = absolutePath(repoPath, home, 'repoPath')
      const after = await engine.projects.addRepo(id, path)
      return repoOf(after, after.repos.at(-1)?.path ?? path)
    },
  }),
  method({
    name: 'project.removeRepo',
    scope: 'use',
    repeat: 'never',
    errors: ['projectNotFound', 'repoNotFound'],
    summary: 'Takes a repository out of a project.',
    changes: true,
    params: repo,
    aliases: repoAliases,
    result: z.object({ removed: z.boolean(), projectId: z.string(), repoPath: z.string() }),
    async handler({ id, repoPath }, { engine, home }) {
      const path = absolutePath(repoPath, home, 'repoPath')
      await engine.projects.removeRepo(id, path)
      return bothWays({ removed: true, projectId: id, repoPath: path })
    },
  }),
]
