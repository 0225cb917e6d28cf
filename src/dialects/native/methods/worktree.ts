import { z } from 'zod'
import { CorralError } from '../../../core/error.ts'
import { commitMessageOf, mustRest } from '../../../core/own-worktree.ts'
import type { WorktreeEntry } from '../../ports.ts'
import { method, type Context } from '../method.ts'
import * as wire from '../wire.ts'

const { sessionId } = wire
const one = z.strictObject({ sessionId })

/** Also of a session that was removed, when there was work in it. */
async function found({ workspace }: Context, id: string): Promise<WorktreeEntry> {
  const entry = await workspace.ownWorktree(id)
  if (entry) return entry
  throw new CorralError('repo_not_found', 'This session has no worktree of its own', { sessionId: id })
}

export const worktreeMethods = [
  method({
    name: 'worktree.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'git_failed'],
    summary:
      'The git worktrees that sessions have for themselves; also those with work of sessions that were removed.',
    params: z.strictObject({}),
    result: z.object({ worktrees: z.array(wire.worktree) }),
    async handler(_, { workspace }) {
      const entries = await workspace.ownWorktrees()
      return {
        worktrees: entries.map(({ id, path, from, branch, base }) => ({
          sessionId: id,
          path,
          from,
          branch,
          base,
        })),
      }
    },
  }),
  method({
    name: 'worktree.diff',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'repo_not_found', 'git_failed'],
    summary: 'What a session has changed in its own worktree, new files included.',
    params: one,
    result: z.object({ text: z.string(), truncated: z.boolean() }),
    async handler({ sessionId: id }, context) {
      const { path } = await found(context, id)
      return context.workspace.worktreeDiff(path, id)
    },
  }),
  method({
    name: 'worktree.merge',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'repo_not_found', 'git_failed', 'conversation_busy', 'unsaved_work'],
    summary:
      'Brings that into the branch that is checked out in the repository. Unless it succeeds, nothing there is touched.',
    params: one.extend({ message: z.string().min(1).max(10_000).exactOptional().describe('of the commit') }),
    result: wire.mergeOutcome,
    async handler({ sessionId: id, message }, context) {
      const { path } = await found(context, id)
      mustRest(context.engine, id)
      return context.workspace.mergeWorktree(path, id, message ?? commitMessageOf(context.engine, id))
    },
  }),
  method({
    name: 'worktree.commit',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'repo_not_found', 'git_failed', 'conversation_busy', 'unsupported'],
    summary:
      'Commits all that is uncommitted in the worktree to the branch that is checked out in it, to be pushed from there.',
    params: one.extend({ message: z.string().min(1).max(10_000).exactOptional().describe('of the commit') }),
    result: z.object({
      sessionId,
      commit: z.string().describe('that the branch is at now'),
      ahead: z.number().describe('commits since the one that its changes are counted from'),
    }),
    async handler({ sessionId: id, message }, context) {
      const { path } = await found(context, id)
      mustRest(context.engine, id)
      const said = message ?? commitMessageOf(context.engine, id)
      return { sessionId: id, ...(await context.workspace.commitWorktree(path, id, said)) }
    },
  }),
  method({
    name: 'worktree.discard',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'repo_not_found', 'git_failed', 'conversation_busy', 'unsaved_work'],
    summary:
      'Removes the worktree with its branch; with `force` also work that is nowhere else. Its session can only be read then.',
    params: one.extend({ force: z.boolean().default(false) }),
    result: z.object({ sessionId }),
    async handler({ sessionId: id, force }, context) {
      const { path } = await found(context, id)
      mustRest(context.engine, id)
      await context.workspace.discardWorktree(path, id, force)
      return { sessionId: id }
    },
  }),
]
