import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { stop } from '../../../core/continue.ts'
import { leaveWorktree } from '../../../core/own-worktree.ts'
import type { Session } from '../../../core/session.ts'
import { createParams, createResult, launch } from '../launch.ts'
import { method, type ClawdeMethod, type Context } from '../method.ts'
import { bothWays } from '../spelling.ts'
import { chosenMode, isReadOnly, MODES, modeName } from '../status.ts'
import { sessionView } from '../views.ts'
import * as wire from '../wire.ts'

const PAGE = 200
const AT_ONCE = 20
/** How long an answer waits for an agent to obey. */
const CANCEL_MS = 10_000

const byId = z.object({ sessionId: wire.sessionId })
const aliases = wire.SESSION_ID

function viewOf({ counts }: Context, session: Session) {
  return sessionView(session, counts.of(session.id))
}

/** A method that does something to a session and answers how it is then. */
function change(
  name: string,
  summary: string,
  work: (context: Context, sessionId: string) => Promise<unknown>,
): ClawdeMethod<typeof byId> {
  return method({
    name,
    scope: 'use',
    repeat: 'idempotent',
    errors: ['sessionNotFound', 'sessionPaused', 'providerNotAvailable'],
    summary,
    changes: true,
    params: byId,
    aliases,
    result: wire.session,
    async handler({ sessionId }, context) {
      await work(context, sessionId)
      return viewOf(context, context.engine.sessions.get(sessionId))
    },
  })
}

async function listed(context: Context, limit: number): Promise<object[]> {
  const { engine } = context
  const found: Session[] = []
  for (let before: { activeAt: number; id: string } | null = null; found.length < limit;) {
    const page: Session[] = engine.sessions.list({ limit: PAGE, before, archived: false })
    found.push(...page)
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    before = { activeAt: last.activeAt, id: last.id }
  }
  const newest = found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).slice(0, limit)
  const views: object[] = []
  for (const [index, session] of newest.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
    views.push(viewOf(context, session))
  }
  return views
}

export const sessionMethods = [
  method({
    name: 'session.create',
    scope: 'use',
    repeat: 'never',
    errors: ['repoNotFound', 'providerNotAvailable', 'sessionLimitReached'],
    summary: 'Creates a session. Tools run without a question unless `permissions` or `mode` say otherwise.',
    changes: true,
    params: createParams,
    aliases: { repoPath: ['path', 'cwd'], provider: ['agent'], key: ['idempotencyKey'] },
    result: createResult,
    async handler(params, context) {
      const { session, routedProvider, worktree } = await launch(params, context)
      context.metrics.count('sessions_created')
      return {
        ...viewOf(context, session),
        ...(routedProvider && bothWays({ routedProvider })),
        ...(worktree && { worktree }),
      }
    },
  }),
  method({
    name: 'session.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'All sessions, whoever made them, the newest first: an array.',
    heavy: true,
    params: z.looseObject({ limit: z.int().min(1).max(10_000).default(1000) }),
    result: z.array(wire.session),
    handler: ({ limit }, context) => listed(context, limit),
  }),
  method({
    name: 'session.get',
    scope: 'read',
    repeat: 'read',
    errors: ['sessionNotFound'],
    summary: 'One session.',
    params: byId,
    aliases,
    result: wire.session,
    handler: ({ sessionId }, context) => viewOf(context, context.engine.sessions.get(sessionId)),
  }),
  method({
    name: 'session.delete',
    scope: 'use',
    repeat: 'never',
    errors: ['sessionNotFound'],
    summary: 'Ends a session and hides its history. A worktree goes too, unless work in it would be lost.',
    changes: true,
    params: byId,
    aliases,
    result: z.object({
      deleted: z.boolean(),
      ok: z.boolean(),
      id: z.string(),
      sessionId: z.string().describe('the same as `id`'),
      worktree: z.string().exactOptional().describe('what became of its worktree'),
      worktreePath: z.string().exactOptional().describe('where it still is'),
    }),
    async handler({ sessionId }, context) {
      const session = context.engine.sessions.get(sessionId)
      await context.engine.sessions.destroy(sessionId)
      const tree = await leaveWorktree(context.workspace, session)
      const told = tree && {
        worktree: tree.fate,
        ...(tree.fate !== 'removed' && { worktreePath: tree.path }),
      }
      return bothWays({ deleted: true, ok: true, id: sessionId, sessionId, ...told })
    },
  }),
  change(
    'session.pause',
    'Stops the agent where it is (SIGSTOP), or keeps an idle session from starting.',
    ({ engine }, id) => engine.sessions.pause(id),
  ),
  change('session.resume', 'Lets it go on.', ({ engine }, id) => engine.sessions.resume(id)),
  change(
    'session.cancel',
    'Stops the turn and drops what waits; the session stays. Answers when the turn is over, or after ten seconds.',
    async ({ engine }, id) => {
      await stop(engine, id, CANCEL_MS)
      if (engine.sessions.get(id).paused) await engine.sessions.resume(id)
    },
  ),
  method({
    name: 'session.setMode',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['sessionNotFound'],
    summary:
      '`FORGE` and `STORM` forbid changes; all others allow what was allowed before, and are told apart by clients only.',
    changes: true,
    params: byId.extend({ mode: z.enum(MODES) }),
    aliases,
    result: z.object({ sessionId: z.string(), mode: z.enum(MODES), previousMode: z.enum(MODES) }),
    async handler({ sessionId, mode }, { engine }) {
      const before = engine.sessions.get(sessionId)
      await engine.sessions.configure({ sessionId, plan: isReadOnly(mode), notes: chosenMode(mode) })
      return bothWays({ sessionId, mode, previousMode: modeName(before) })
    },
  }),
  method({
    name: 'session.setModel',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['sessionNotFound', 'providerNotAvailable'],
    summary: 'The model from the next turn on; null: the agent’s own choice.',
    changes: true,
    params: byId.extend({ model: z.string().min(1).nullable() }),
    aliases,
    result: wire.session,
    async handler({ sessionId, model }, context) {
      return viewOf(context, await context.engine.sessions.configure({ sessionId, model }))
    },
  }),
  method({
    name: 'session.rename',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['sessionNotFound'],
    summary: 'Gives it another title.',
    changes: true,
    params: byId.extend({ title: z.string().max(1000) }),
    aliases: { ...aliases, title: ['name'] },
    result: wire.session,
    async handler({ sessionId, title }, context) {
      return viewOf(context, await context.engine.sessions.configure({ sessionId, title }))
    },
  }),
]
