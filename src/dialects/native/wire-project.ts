import { z } from 'zod'
import { id, time } from './wire-base.ts'

export const projectId = id.describe('id of a project')
const path = z.string().min(1).max(4096)
const name = z.string().min(1).max(200)

const about = {
  rootPath: path.nullable().exactOptional().describe('its repositories are below it'),
  description: z.string().max(10_000).nullable().exactOptional(),
  orgSlug: z.string().max(100).nullable().exactOptional(),
}

export const createProjectParams = z.strictObject({
  name,
  ...about,
  repos: z.array(path).max(1000).exactOptional().describe('absolute paths of its first repositories'),
  id: z.uuid().exactOptional().describe('the same id twice is one project'),
})

export const updateProjectParams = z.strictObject({ projectId, name: name.exactOptional(), ...about })

export const repoParams = z.strictObject({ projectId, path: path.describe('absolute path of a repository') })

export const projectView = z.object({
  id,
  name: z.string(),
  rootPath: z.string().nullable(),
  description: z.string().nullable(),
  orgSlug: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  lastActiveAt: time.describe('when it was changed, or a session in it was active'),
  repos: z.array(
    z.object({
      path: z.string(),
      addedAt: time,
      lastOpenedAt: time.nullable().describe('when a session was last active in it'),
    }),
  ),
})
