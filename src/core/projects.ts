import { CorralError } from './error.ts'
import { invalid, oneLine } from './naming.ts'

/*
 * Projects: named workspaces with repositories. All of their rules, pure as those of `decide`: what is and a wish in, an
 * event out. Whether a path is a repository has been looked at before.
 */

export interface ProjectRepo {
  path: string
  addedAt: number
}

export interface Project {
  id: string
  name: string
  /** Repositories of the project are below it, if there is one. */
  rootPath: string | null
  description: string | null
  orgSlug: string | null
  createdAt: number
  updatedAt: number
  repos: ProjectRepo[]
}

/** With what sessions have done in it, as far as they are still there. */
export interface ProjectView extends Project {
  lastActiveAt: number
  repos: (ProjectRepo & { lastOpenedAt: number | null })[]
}

export interface CreateProject {
  name: string
  rootPath?: string | null
  description?: string | null
  orgSlug?: string | null
  /** Its first repositories. */
  repos?: readonly string[]
  /** The same id twice is one project. */
  id?: string
}

/** What is not given stays as it is. */
export interface UpdateProject {
  projectId: string
  name?: string
  rootPath?: string | null
  description?: string | null
  orgSlug?: string | null
}

type ProjectFields = Pick<Project, 'name' | 'rootPath' | 'description' | 'orgSlug'>

export type ProjectEvent =
  | ({ type: 'project.created'; projectId: string; repos: string[] } & ProjectFields)
  | ({ type: 'project.updated'; projectId: string } & Partial<ProjectFields>)
  | { type: 'project.deleted'; projectId: string }
  | { type: 'project.repo_added'; projectId: string; path: string }
  | { type: 'project.repo_removed'; projectId: string; path: string }

const MAX_DESCRIPTION = 10_000
const MAX_SLUG = 100
const MAX_PATH = 4096
const MAX_REPOS = 1000

export function create(projectId: string, command: CreateProject): ProjectEvent {
  const fields = {
    name: oneLine(command.name, 'name'),
    rootPath: pathOrNull(command.rootPath ?? null, 'rootPath'),
    description: textOrNull(command.description ?? null),
    orgSlug: slugOrNull(command.orgSlug ?? null),
  }
  const repos: string[] = []
  for (const path of command.repos ?? []) {
    mustFit({ projectId, rootPath: fields.rootPath, paths: repos }, path)
    repos.push(path)
  }
  return { type: 'project.created', projectId, ...fields, repos }
}

/** Nothing when all of it is so already. */
export function update(project: Project, command: UpdateProject): ProjectEvent[] {
  const { name, rootPath, description, orgSlug } = command
  const wanted: Partial<ProjectFields> = {
    ...(name !== undefined && { name: oneLine(name, 'name') }),
    ...(rootPath !== undefined && { rootPath: pathOrNull(rootPath, 'rootPath') }),
    ...(description !== undefined && { description: textOrNull(description) }),
    ...(orgSlug !== undefined && { orgSlug: slugOrNull(orgSlug) }),
  }
  const changes = Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => project[field as keyof ProjectFields] !== value),
  )
  if (Object.keys(changes).length === 0) return []
  const outside = project.repos.find(({ path }) => !isBelow(path, wanted.rootPath ?? null))
  if (outside) throw invalid('rootPath', `must contain ${outside.path}, which is in the project`)
  return [{ type: 'project.updated', projectId: project.id, ...changes }]
}

export function addRepo({ id: projectId, rootPath, repos }: Project, path: string): ProjectEvent {
  mustFit({ projectId, rootPath, paths: repos.map((repo) => repo.path) }, path)
  return { type: 'project.repo_added', projectId, path }
}

export function removeRepo({ id: projectId, name, repos }: Project, path: string): ProjectEvent {
  if (!repos.some((repo) => repo.path === path)) {
    throw new CorralError('repo_not_found', `${path} is not in the project ${name}`, { projectId, path })
  }
  return { type: 'project.repo_removed', projectId, path }
}

/** The project as it is after this; null when it is gone. */
export function applyTo(project: Project | null, event: ProjectEvent, at: number): Project | null {
  if (event.type === 'project.created') {
    const { projectId: id, name, rootPath, description, orgSlug } = event
    const repos = event.repos.map((path) => ({ path, addedAt: at }))
    return { id, name, rootPath, description, orgSlug, createdAt: at, updatedAt: at, repos }
  }
  if (!project) throw new TypeError(`event ${event.type} for a project that does not exist`)
  switch (event.type) {
    case 'project.updated': {
      const { type: _, projectId: __, ...changes } = event
      return { ...project, ...changes, updatedAt: at }
    }
    case 'project.deleted':
      return null
    case 'project.repo_added':
      return { ...project, repos: [...project.repos, { path: event.path, addedAt: at }], updatedAt: at }
    case 'project.repo_removed':
      return { ...project, repos: project.repos.filter(({ path }) => path !== event.path), updatedAt: at }
  }
}

function mustFit(
  { projectId, rootPath, paths }: { projectId: string; rootPath: string | null; paths: readonly string[] },
  path: string,
): void {
  if (paths.includes(path)) {
    throw new CorralError('repo_in_project', `${path} is already in this project`, { projectId, path })
  }
  if (paths.length >= MAX_REPOS)
    throw invalid('repos', `a project may have at most ${MAX_REPOS} repositories`)
  if (!isBelow(path, rootPath)) throw invalid('path', `${path} is not below ${rootPath}, the project's root`)
}

function isBelow(path: string, root: string | null): boolean {
  return root === null || root === '/' || path === root || path.startsWith(`${root}/`)
}

/** The project that a directory belongs to; of several the one whose place is nearest. */
export function projectAt(projects: readonly Project[], path: string): Project | null {
  let nearest: { project: Project; length: number } | null = null
  for (const project of projects) {
    for (const place of [project.rootPath, ...project.repos.map((repo) => repo.path)]) {
      if (place === null || !isBelow(path, place) || place.length <= (nearest?.length ?? 0)) continue
      nearest = { project, length: place.length }
    }
  }
  return nearest?.project ?? null
}

/** Without a slash at its end; whether there is such a place is not asked. */
export function pathOrNull(path: string | null, field: string): string | null {
  if (path === null || path === '') return null
  if (!path.startsWith('/')) throw invalid(field, 'must be an absolute path')
  if (path.length > MAX_PATH || path.includes('\0') || !path.isWellFormed())
    throw invalid(field, 'is not a path')
  return path.replace(/\/+$/, '') || '/'
}

function textOrNull(text: string | null): string | null {
  if (text === null) return null
  if (text.length > MAX_DESCRIPTION)
    throw invalid('description', `may have at most ${MAX_DESCRIPTION} characters`)
  if (!text.isWellFormed() || text.includes('\0')) throw invalid('description', 'must be text')
  return text.trim() || null
}

function slugOrNull(slug: string | null): string | null {
  return slug === null || slug.trim() === '' ? null : oneLine(slug, 'orgSlug', MAX_SLUG)
}
