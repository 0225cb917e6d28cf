import { z } from 'zod'
import { commitMessageOf, mustRest } from '../../../core/own-worktree.ts'
import type { Session } from '../../../core/session.ts'
import { ClawdeError } from '../errors.ts'
import { method, type Context } from '../method.ts'
import { bothWays } from '../spelling.ts'
import * as wire from '../wire.ts'

const byId = z.object({ sessionId: wire.sessionId })
const aliases = wire.SESSION_ID

async function withWorktree({ engine, workspace }: Context, sessionId: string): Promise<Session> {
  const found = await workspace.worktree(engine.sessions.get(sessionId).cwd, sessionId).catch(() => null)
  if (found) return engine.sessions.get(sessionId)
  throw new ClawdeError('repoNotFound', 'This session has no worktree of its own', { reason: 'no_worktree' })
}

/** One that no agent writes to now. */
async function withRestingWorktree(context: Context, sessionId: string): Promise<Session> {
  const session = await withWorktree(context, sessionId)
  mustRest(context.engine, sessionId)
  return session
}

export const worktreeMethods = [
  method({
    name: 'worktrees.diff',
    scope: 'read',
    repeat: 'read',
    errors: ['sessionNotFound', 'repoNotFound'],
    summary: 'What a session has changed in its own worktree, new files included: a text.',
    heavy: true,
    params: byId.extend({ format: z.enum(['text', 'structured']).default('text') }),
    aliases,
    result: z.union([z.string(), z.array(wire.fileDiff)]),
    async handler({ sessionId, format }, context) {
      const { cwd } = await withWorktree(context, sessionId)
      const { text } = await context.workspace.worktreeDiff(cwd, sessionId)
      return format === 'text' ? text : context.workspace.structured(text)
    },
  }),
  method({
    name: 'worktrees.merge',
    scope: 'use',
    repeat: 'never',
    errors: ['sessionNotFound', 'repoNotFound', 'providerNotAvailable'],
    also: ['worktrees.accept'],
    summary:
      'Brings that into the branch that is checked out where the session was begun, unless a turn runs. Unless it succeeds, nothing is touched.',
    params: byId.extend({ message: z.string().max(10_000).exactOptional() }),
    aliases,
    result: z.object({
      outcome: z.enum(['merged', 'nothing', 'conflict', 'blocked']),
      commit: z.string().exactOptional(),
      how: z.enum(['fast-forward', 'merge', 'squash']).exactOptional(),
      why: z.enum(['detached', 'uncommitted', 'unfinished']).exactOptional().describe('it is blocked'),
      files: z.array(z.string()).exactOptional().describe('that are in conflict, or in the way'),
    }),
    async handler({ sessionId, message }, context) {
      const { cwd } = await withRestingWorktree(context, sessionId)
      return context.workspace.mergeWorktree(
        cwd,
        sessionId,
        message ?? commitMessageOf(context.engine, sessionId),
      )
    },
  }),
  method({
    name: 'worktrees.discard',
    scope: 'use',
    repeat: 'never',
    errors: ['sessionNotFound', 'repoNotFound', 'providerNotAvailable'],
    also: ['worktrees.delete', 'worktrees.reject'],
    summary:
      'Removes the worktree, unless a turn runs, and with `force` the work that is nowhere else. Its session can only be read then.',
    params: byId.extend({ force: z.boolean().default(false) }),
    aliases,
    result: z.object({ discarded: z.boolean(), sessionId: z.string() }),
    async handler({ sessionId, force }, context) {
      const { cwd } = await withRestingWorktree(context, sessionId)
      await context.workspace.discardWorktree(cwd, sessionId, force)
      return bothWays({ discarded: true, sessionId })
    },
  }),
]
