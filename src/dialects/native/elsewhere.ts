import type { Method } from '../method.ts'
import type { Context } from './method.ts'

/** These look at the files of a session, or at its worktree: they are there where it runs. */
const WITH_ITS_FILES: ReadonlySet<string> = new Set([
  'files.list',
  'files.read',
  'files.find',
  'worktree.diff',
  'worktree.merge',
  'worktree.commit',
  'worktree.discard',
])

/** The same method; for a session of another machine it is called there. */
export function elsewhere(method: Method<Context>): Method<Context> {
  const { name, handler } = method
  if (!WITH_ITS_FILES.has(name)) return method
  return {
    ...method,
    handler(params, context) {
      const { sessionId } = params as { sessionId: string }
      const machine = context.engine.copies.machineOf(sessionId)
      if (machine === null) return handler(params, context)
      return context.machines.call(machine, name, params)
    },
  }
}
