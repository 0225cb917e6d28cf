import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const scope = z
  .enum(['turn', 'session', 'branch', 'uncommitted'])
  .describe(
    '`turn`: what happened to the files during a turn; `session`: since its first checkpoint; `branch`: since it left the default branch, or its worktree was made; `uncommitted`: since the last commit',
  )

export const changeMethods = [
  method({
    name: 'changes.read',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'repo_not_found', 'git_failed', 'unsupported'],
    summary:
      'What has changed in the work tree that a session works in, new files included. Paths are below the root of the work tree. At most 1,000 files, 2,000 lines of each and 20,000 in all; with `path`, more of one file. Nothing is written into the repository.',
    params: z.strictObject({
      sessionId: wire.sessionId,
      scope,
      turnId: wire.turnId.exactOptional().describe('of `turn`: the last one if not given'),
      path: z.string().min(1).max(4096).exactOptional().describe('only this file'),
      brief: z
        .boolean()
        .exactOptional()
        .describe('which files, and how many lines of each, but no line of any'),
    }),
    result: z.object({
      scope,
      turnId: z.string().nullable(),
      base: z.string().nullable().describe('the commit or tree that it is compared with'),
      files: z.array(wire.fileChange),
      truncated: z.boolean(),
      reason: z.string().nullable().describe('why there is nothing to show'),
    }),
    handler: (params, { engine }) => engine.checkpoints.changes(params),
  }),
]
