import type { Engine } from './api.ts'
import type { Drafts } from './draft.ts'
import { CorralError } from './error.ts'
import { invalid, oneLine } from './naming.ts'
import { oneByOne } from './one-by-one.ts'
import type { Log, Write } from './ports.ts'
import * as projects from './projects.ts'
import type { Project, ProjectEvent, ProjectView } from './projects.ts'

interface HouseDeps {
  log: Log
  drafts: Drafts
  newId: () => string
  /** Without links; the path itself when there is no such place. */
  realPath: (path: string) => string
  isRepository: (path: string) => Promise<boolean>
}

export type House = Pick<
  Engine,
  | 'setName'
  | 'createProject'
  | 'updateProject'
  | 'deleteProject'
  | 'addRepo'
  | 'removeRepo'
  | 'project'
  | 'projects'
>

/** The part of the engine that is about no session: what the daemon is called, and projects. */
export function createHouse({ log, drafts, newId, realPath, isRepository }: HouseDeps): House {
  const inTurn = oneByOne()

  function found(projectId: string): Project {
    const project = log.project(projectId)
    if (project) return project
    throw new CorralError('project_not_found', `No project ${projectId}`, { projectId })
  }

  async function commit(project: Project | null, event: ProjectEvent): Promise<void> {
    await drafts.apart(event, (body, at): Write[] => {
      const next = projects.applyTo(project, body, at)
      return [next ? { op: 'project', project: next } : { op: 'project.delete', id: body.projectId }]
    })
  }

  function change(projectId: string, rule: (project: Project) => ProjectEvent[]): Promise<ProjectView> {
    return inTurn(async () => {
      const project = found(projectId)
      for (const event of rule(project)) await commit(project, event)
      return view(found(projectId))
    })
  }

  function place(path: string, field: string): string {
    const there = projects.pathOrNull(path, field)
    if (there === null) throw invalid(field, 'must be an absolute path')
    return realPath(there)
  }

  async function repository(path: string): Promise<string> {
    const there = place(path, 'path')
    if (await isRepository(there)) return there
    throw new CorralError('repo_not_found', `Not a git repository: ${path}`, { path })
  }

  function view(project: Project): ProjectView {
    const repos = project.repos.map((repo) => ({ ...repo, lastOpenedAt: log.activeBelow(repo.path) }))
    const inRoot = project.rootPath === null ? null : log.activeBelow(project.rootPath)
    const moments = [project.updatedAt, inRoot ?? 0, ...repos.map(({ lastOpenedAt }) => lastOpenedAt ?? 0)]
    return { ...project, repos, lastActiveAt: Math.max(...moments) }
  }

  return {
    setName: (given) =>
      inTurn(async () => {
        const name = oneLine(given, 'name')
        if (name === log.daemonName()) return
        await drafts.apart({ type: 'daemon.renamed', name }, () => [{ op: 'name', name }])
      }),
    async createProject({ id = newId(), repos = [], rootPath, ...command }) {
      const root = rootPath ? place(rootPath, 'rootPath') : null
      const places = await Promise.all(repos.map(repository))
      return inTurn(async () => {
        const event = projects.create(id, { ...command, rootPath: root, repos: places })
        if (!log.project(id)) await commit(null, event)
        return view(found(id))
      })
    },
    async updateProject({ rootPath, ...command }) {
      const root = rootPath ? place(rootPath, 'rootPath') : rootPath
      const wanted = { ...command, ...(root !== undefined && { rootPath: root }) }
      return change(command.projectId, (project) => projects.update(project, wanted))
    },
    deleteProject: (projectId) =>
      inTurn(() => commit(found(projectId), { type: 'project.deleted', projectId })),
    async addRepo(projectId, path) {
      found(projectId)
      const there = await repository(path)
      return change(projectId, (project) => [projects.addRepo(project, there)])
    },
    removeRepo: (projectId, path) =>
      change(projectId, (project) => {
        // Where a link led once need not be where it leads now.
        const known = project.repos.some((repo) => repo.path === path)
        return [projects.removeRepo(project, known ? path : place(path, 'path'))]
      }),
    project: (projectId) => view(found(projectId)),
    projects: () => log.projects().map(view),
  }
}
