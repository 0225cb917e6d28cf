import type { Engine, Sessions } from './api.ts'
import type { CreateSession } from './command.ts'
import { asCorralError, CorralError } from './error.ts'
import { nameOf } from './glance.ts'
import { uuid, uuidOf } from './ids.ts'
import type { Session } from './session.ts'

/** Checkouts of their own for sessions; a worktree has its session's id. `path` may be any place in the repository. */
export interface WorktreeMaker {
  addWorktree(path: string, id: string, wish?: WorktreeWish): Promise<OwnWorktree & { origin: string }>
  worktree(path: string, id: string): Promise<OwnWorktree | null>
  /** One that a daemon which died has left, if there is one; throws `unsaved_work` if somebody has worked in it. */
  discardUnused(path: string, id: string): Promise<void>
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

export interface WorktreeSessions {
  create: Sessions['create']
  workspace: WorktreeMaker
  /** Two daemons that are given the same key make two sessions. */
  daemonId: () => Promise<string>
}

/** A session in a worktree of the repository that `cwd` is in, or neither of them. */
export async function createInWorktree(
  { create, workspace, daemonId }: WorktreeSessions,
  command: CreateSession,
  wish: WorktreeWish,
): Promise<{ session: Session; worktree: OwnWorktree | null }> {
  const { id, key, cwd } = command
  const ownId = id ?? (key === undefined ? undefined : uuidOf('session', await daemonId(), key))
  let made: OwnWorktree | null = null
  const session = await create(command, {
    async make() {
      const freeId = ownId === undefined ? uuid() : await cleared(workspace, cwd, ownId, id !== undefined)
      const { origin, ...worktree } = await workspace.addWorktree(cwd, freeId, wish)
      made = worktree
      return { id: freeId, cwd: worktree.path, worktreeOf: origin }
    },
    unmake: (freeId) => workspace.discardWorktree(cwd, freeId, true),
  })
  return { session, worktree: made ?? (await workspace.worktree(session.cwd, session.id).catch(() => null)) }
}

/**
 * A daemon that died may have left a worktree of the same call, and no session. Nobody has worked in it: the next try takes its
 * place. What somebody has worked in after all stays, and another id is taken.
 */
async function cleared(workspace: WorktreeMaker, cwd: string, id: string, isGiven: boolean): Promise<string> {
  try {
    await workspace.discardUnused(cwd, id)
    return id
  } catch (error) {
    if (isGiven) throw error
    return uuid()
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
