import type { ProjectView } from '../../core/projects.ts'
import { bothWays } from './spelling.ts'

function seconds(at: number): number {
  return Math.floor(at / 1000)
}

/** Moments of projects are numbers in this protocol, unlike all others. */
export function projectView(project: ProjectView) {
  const { id, name, rootPath, description, orgSlug, repos } = project
  return bothWays({
    id,
    projectId: id,
    name,
    rootPath,
    description,
    orgSlug,
    repoPaths: repos.map(({ path }) => path),
    createdAt: seconds(project.createdAt),
    updatedAt: seconds(project.updatedAt),
    lastActiveAt: seconds(project.lastActiveAt),
  })
}

export function repoOf(project: ProjectView, path: string) {
  const repo = project.repos.find((one) => one.path === path)
  return bothWays({
    projectId: project.id,
    repoPath: path,
    addedAt: repo ? seconds(repo.addedAt) : null,
    lastOpenedAt: repo?.lastOpenedAt ? seconds(repo.lastOpenedAt) : null,
  })
}

/** With its repositories; flat for the ones, nested for the others. */
export function projectWithRepos(project: ProjectView) {
  const view = projectView(project)
  return { ...view, project: view, repos: project.repos.map(({ path }) => repoOf(project, path)) }
}
