import { z } from 'zod'
import { createInWorktree } from '../../../core/own-worktree.ts'
import type { Session } from '../../../core/session.ts'
import { TOUR_MESSAGE } from '../../../core/tour.ts'
import { method, type Context } from '../method.ts'
import { viewSession } from '../views.ts'
import * as wire from '../wire.ts'

/** In a worktree of its own, so that there is something to merge; where git cannot do that, in the directory itself. */
async function makeSession(origin: string, { engine, daemon, workspace }: Context): Promise<Session> {
  const { path: cwd, isRepository } = await daemon.makeTourDirectory()
  const command = { agent: 'demo', cwd, mode: 'code' as const, title: 'A first look', origin }
  const { create } = engine.sessions
  if (!isRepository) return create(command)
  try {
    return (
      await createInWorktree({ create, workspace, daemonId: daemon.id }, command, { about: command.title })
    ).session
  } catch {
    // An old git, or settings that it cannot work with.
    return create(command)
  }
}

export const demoMethods = [
  method({
    name: 'demo.session',
    scope: 'use',
    repeat: 'never',
    errors: [],
    summary:
      'A first look at Corral: a session of the demo agent in a worktree of a fresh repository, both in the data directory. It says what it does, writes two files for real, and asks before it runs their test. Without git it works in a plain directory.',
    params: z.strictObject({ origin: wire.origin.exactOptional() }),
    result: wire.sessionView,
    async handler({ origin = 'native' }, context) {
      const { engine } = context
      const { id } = await makeSession(origin, context)
      await engine.turns.send({ sessionId: id, input: [{ type: 'text', text: TOUR_MESSAGE }], origin })
      return viewSession(engine.sessions.get(id))
    },
  }),
]
