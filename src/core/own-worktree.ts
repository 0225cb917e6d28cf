import type { Engine, Sessions } from './api.ts'
import type { CreateSession } from './command.ts'
import { asCorralError, CorralError } from './error.ts'
import { nameOf } from './glance.ts'
import type { Session } from './session.ts'

/** Checkouts of their own for sessions; a worktree has its session's id. `path` may be any place in the repository. */
export interface WorktreeMaker {
  addWorktree(path: string, id: string, wish?: WorktreeWish): Promise<OwnWorktree & { origin: string }>
  worktree(path: string, id: string): Promise<OwnWorktree | null>
  /** Throws `unsaved_work` unless told that it may be lost. */
  discardWorktree(path: string, id: string, force: boolean): Promise<void>
}

export interface WorktreeWish {
  /** Uncommitted work comes along. */
  readonly carry?: boolean
  /** The name of its branch; it must be free. */
  readonly branch?: string | undefined
  /** What the work is about: its branch is named after it. Neither: the branch has the id. */
  readonly about?: string | undefined
}

export interface OwnWorktree {
  readonly path: string
  readonly branch: string | null
}

/** A session in a worktree of the repository that `cwd` is in, or neither of them. */
export async function createInWorktree(
  { create, workspace }: { create: Sessions['create']; workspace: WorktreeMaker },
  command: CreateSession & { id: string },
  wish: WorktreeWish,
): Promise<{ session: Session; worktree: OwnWorktree | null }> {
  const { id, cwd } = command
  const worktree = await workspace.addWorktree(cwd, id, wish)
  try {
    const session = await create({ ...command, cwd: worktree.path, worktreeOf: worktree.origin })
    if (session.id === id) return { session, worktree }
    // The key has made this session before, with its own worktree.
    await workspace.discardWorktree(cwd, id, true)
    return { session, worktree: await workspace.worktree(session.cwd, session.id).catch(() => null) }
  } catch (error) {
    await workspace.discardWorktree(cwd, id, true).catch(() => {})
    throw error
  }
}

/** While an agent works in it, it is nobody else's. Its session may have gone: what it has left rests. */
export function mustRest(engine: Pick<Engine, 'sessions'>, sessionId: string): void {
  if (!isRunning(engine, sessionId)) return
  throw new CorralError(
    'conversation_busy',
    'A turn is running in this worktree; wait for it, or interrupt it',
    {
      sessionId,
      reason: 'turn_running',
    },
  )
}

function isRunning(engine: Pick<Engine, 'sessions'>, sessionId: string): boolean {
  try {
    return engine.sessions.get(sessionId).turn !== null
  } catch (error) {
    if (asCorralError(error).code === 'session_not_found') return false
    throw error
  }
}

/** What a commit of its work says, unless somebody says it better. Undefined: the session has no name, or has gone. */
export function commitMessageOf(engine: Pick<Engine, 'sessions'>, sessionId: string): string | undefined {
  try {
    return nameOf(engine.sessions.get(sessionId)) ?? undefined
  } catch (error) {
    if (asCorralError(error).code === 'session_not_found') return undefined
    throw error
  }
}

/** Its directory is a worktree of its own. */
export function hasOwnWorktree({ cwd, id }: Pick<Session, 'cwd' | 'id'>): boolean {
  return cwd.endsWith(`/${id}`)
}

/** When its session has gone, a worktree goes too. What was not merged stays, with its branch, for a human to look at. */
export async function leaveWorktree(
  workspace: WorktreeMaker,
  session: Pick<Session, 'cwd' | 'id'>,
): Promise<{ fate: 'removed' | 'kept' | 'left'; path: string } | null> {
  if (!hasOwnWorktree(session)) return null
  const { cwd, id } = session
  const worktree = await workspace.worktree(cwd, id).catch(() => null)
  if (!worktree) return null
  const { path } = worktree
  try {
    await workspace.discardWorktree(cwd, id, false)
    return { fate: 'removed', path }
  } catch (error) {
    const hasWork = error instanceof CorralError && error.code === 'unsaved_work'
    return { fate: hasWork ? 'kept' : 'left', path }
  }
}
