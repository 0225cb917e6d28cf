import type { Projects } from './api.ts'
import { CorralError } from './error.ts'
import type { EngineContext } from './context.ts'
import { invalid } from './naming.ts'
import { oneByOne } from './one-by-one.ts'
import type { Log, Write } from './ports.ts'
import * as projects from './projects.ts'
import type { Project, ProjectEvent, ProjectView } from './projects.ts'

/** The noun `projects` of the engine. */
export function createProjects(context: EngineContext): Projects {
  const { log, newId } = context
  const inTurn = oneByOne()

  function change(projectId: string, rule: (project: Project) => ProjectEvent[]): Promise<ProjectView> {
    return inTurn(async () => {
      const project = found(log, projectId)
      for (const event of rule(project)) await commit(context, project, event)
      return view(log, found(log, projectId))
    })
  }

  return {
    async create({ id = newId(), repos = [], rootPath, ...command }) {
      const root = rootPath ? place(context, rootPath, 'rootPath') : null
      const places = await Promise.all(repos.map((repo) => repository(context, repo)))
      return inTurn(async () => {
        const event = projects.create(id, { ...command, rootPath: root, repos: places })
        if (!log.project(id)) await commit(context, null, event)
        return view(log, found(log, id))
      })
    },
    async update({ rootPath, ...command }) {
      const root = rootPath ? place(context, rootPath, 'rootPath') : rootPath
      const wanted = { ...command, ...(root !== undefined && { rootPath: root }) }
      return change(command.projectId, (project) => projects.update(project, wanted))
    },
    remove: (projectId) =>
      inTurn(() => commit(context, found(log, projectId), { type: 'project.deleted', projectId })),
    async addRepo(projectId, path) {
      found(log, projectId)
      const there = await repository(context, path)
      return change(projectId, (project) => [projects.addRepo(project, there)])
    },
    removeRepo: (projectId, path) =>
      change(projectId, (project) => {
        // Where a link led once need not be where it leads now.
        const known = project.repos.some((repo) => repo.path === path)
        return [projects.removeRepo(project, known ? path : place(context, path, 'path'))]
      }),
    get: (projectId) => view(log, found(log, projectId)),
    list: () => log.projects().map((project) => view(log, project)),
    at: (path) => projects.projectAt(log.projects(), context.realPath(path)),
  }
}

function found(log: Log, projectId: string): Project {
  const project = log.project(projectId)
  if (project) return project
  throw new CorralError('project_not_found', `No project has the id ${projectId}`, { projectId })
}

async function commit(
  { drafts }: EngineContext,
  project: Project | null,
  event: ProjectEvent,
): Promise<void> {
  await drafts.apart(event, (body, at): Write[] => {
    const next = projects.applyTo(project, body, at)
    return [next ? { op: 'project', project: next } : { op: 'project.delete', id: body.projectId }]
  })
}

function place({ realPath }: EngineContext, path: string, field: string): string {
  const there = projects.pathOrNull(path, field)
  if (there === null) throw invalid(field, 'must be an absolute path')
  return realPath(there)
}

async function repository(context: EngineContext, path: string): Promise<string> {
  const there = place(context, path, 'path')
  if (await context.isRepository(there)) return there
  throw new CorralError('repo_not_found', `${path} is not a git repository`, { path })
}

function view(log: Log, project: Project): ProjectView {
  const repos = project.repos.map((repo) => ({ ...repo, lastOpenedAt: log.activeBelow(repo.path) }))
  const inRoot = project.rootPath === null ? null : log.activeBelow(project.rootPath)
  const moments = [project.updatedAt, inRoot ?? 0, ...repos.map(({ lastOpenedAt }) => lastOpenedAt ?? 0)]
  return { ...project, repos, lastActiveAt: Math.max(...moments) }
}
