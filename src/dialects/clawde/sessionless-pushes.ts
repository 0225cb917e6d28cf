import type { Engine } from '../../core/api.ts'
import type { Event, EventType } from '../../core/event.ts'
import type { ProjectView } from '../../core/projects.ts'
import { projectView, repoOf } from './projects.ts'
import type { Push } from './pushes.ts'

/** What belongs to no session. */
export const SESSIONLESS_TYPES: readonly EventType[] = [
  'project.created',
  'project.updated',
  'project.deleted',
  'project.repo_added',
  'project.repo_removed',
  'device.paired',
  'device.revoked',
]

type PushBody = Pick<Push, 'method' | 'params'>

/** Projects are told as they are now: one that is gone by now is not. */
export function sessionlessPushes(engine: Engine, event: Event): PushBody[] {
  switch (event.type) {
    case 'project.created':
    case 'project.updated':
      return ofProject(engine, event.projectId, (project) => ({
        method: event.type,
        params: { project: projectView(project) },
      }))
    case 'project.deleted':
      return [{ method: 'project.deleted', params: { projectId: event.projectId, id: event.projectId } }]
    case 'project.repo_added':
      return ofProject(engine, event.projectId, (project) => ({
        method: 'project.repoAdded',
        params: { projectId: project.id, repoPath: event.path, repo: repoOf(project, event.path) },
      }))
    case 'project.repo_removed':
      return [{ method: 'project.repoRemoved', params: { projectId: event.projectId, repoPath: event.path } }]
    case 'device.paired': {
      const { deviceId, name, platform } = event
      return [{ method: 'device.paired', params: { deviceId, name, platform } }]
    }
    case 'device.revoked':
      return [{ method: 'device.revoked', params: { deviceId: event.deviceId } }]
    default:
      return []
  }
}

function ofProject(engine: Engine, id: string, tell: (project: ProjectView) => PushBody): PushBody[] {
  try {
    return [tell(engine.projects.get(id))]
  } catch {
    return []
  }
}
