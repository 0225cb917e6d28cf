import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const one = z.strictObject({ projectId: wire.projectId })

export const projectMethods = [
  method({
    name: 'project.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Projects: named workspaces with repositories, in the order in which they were made.',
    params: z.strictObject({}),
    result: z.object({ projects: z.array(wire.projectView) }),
    handler: (_, { engine }) => ({ projects: engine.projects.list() }),
  }),
  method({
    name: 'project.get',
    scope: 'read',
    repeat: 'read',
    errors: ['project_not_found'],
    summary: 'One project.',
    params: one,
    result: wire.projectView,
    handler: ({ projectId }, { engine }) => engine.projects.get(projectId),
  }),
  method({
    name: 'project.create',
    scope: 'use',
    repeat: 'keyed',
    errors: ['path_not_found', 'repo_not_found'],
    summary: 'Makes a project, with its first repositories or not at all.',
    params: wire.createProjectParams,
    result: wire.projectView,
    handler: (params, { engine }) => engine.projects.create(params),
  }),
  method({
    name: 'project.update',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['project_not_found', 'path_not_found'],
    summary: 'Changes what is given of a project.',
    params: wire.updateProjectParams,
    result: wire.projectView,
    handler: (params, { engine }) => engine.projects.update(params),
  }),
  method({
    name: 'project.delete',
    scope: 'use',
    repeat: 'never',
    errors: ['project_not_found'],
    summary: 'Forgets a project. Its repositories stay where they are.',
    params: one,
    result: one,
    async handler({ projectId }, { engine }) {
      await engine.projects.remove(projectId)
      return { projectId }
    },
  }),
  method({
    name: 'project.addRepo',
    scope: 'use',
    repeat: 'never',
    errors: ['project_not_found', 'repo_not_found', 'repo_in_project', 'path_not_found'],
    summary: 'Adds a git repository to a project.',
    params: wire.repoParams,
    result: wire.projectView,
    handler: ({ projectId, path }, { engine }) => engine.projects.addRepo(projectId, path),
  }),
  method({
    name: 'project.removeRepo',
    scope: 'use',
    repeat: 'never',
    errors: ['project_not_found', 'repo_not_found'],
    summary: 'Takes a repository out of a project. It stays where it is.',
    params: wire.repoParams,
    result: wire.projectView,
    handler: ({ projectId, path }, { engine }) => engine.projects.removeRepo(projectId, path),
  }),
]
