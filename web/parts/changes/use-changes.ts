import { useEffect, useMemo, useState } from 'preact/hooks'
import type { FileChange } from '../../../src/core/file-change.ts'
import type { Api } from '../../client/client.ts'
import type { Comment } from '../../state/changes/review.ts'
import type { ChangesQuery } from '../../state/changes/scope.ts'
import { client } from '../../state/connection.ts'
import { toast } from '../toast.tsx'
import { problemOf, useCall, type Loaded } from '../use-call.ts'
import { useEvents } from '../use-events.ts'

type Session = Api['session.get']['result']
type Turn = Api['turn.list']['result']['turns'][number]
type Worktree = Api['worktree.list']['result']['worktrees'][number]

export interface Changes {
  session: Session | null
  isRunning: boolean
  turns: readonly Turn[]
  worktree: Worktree | null
  /** Files of its own worktree that were not merged yet; null: that is not known, or it has none. */
  unmerged: number | null
  read: Loaded<Api['changes.read']['result']>
  files: readonly FileChange[]
  comments: readonly Comment[]
  /** Reads all of a file that was cut. */
  readMore(path: string): void
  reload(): void
}

const FILES = [
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.started',
  'checkpoint.taken',
  'checkpoint.restored',
] as const
const REVIEW = ['review.added', 'review.updated', 'review.removed', 'review.sent'] as const

/** All that the page shows, as new as the daemon's last word. */
export function useChanges(sessionId: string, { scope, turnId }: ChangesQuery): Changes {
  const session = useCall('session.get', { sessionId })
  const turns = useCall('turn.list', { sessionId, limit: 100 })
  const worktrees = useCall('worktree.list', {})
  const read = useCall('changes.read', { sessionId, scope, ...(turnId !== null && { turnId }) })
  const comments = useCall('review.list', { sessionId })
  const worktree = worktrees.data?.worktrees.find((one) => one.sessionId === sessionId) ?? null
  const inBranch = { sessionId, scope: 'branch', brief: true } as const
  const unmerged = useCall('changes.read', inBranch, { off: worktree === null })
  function reload(): void {
    for (const one of [session, turns, worktrees, read, comments]) one.reload()
    if (worktree) unmerged.reload()
  }
  useEvents({ sessionId, types: FILES }, reload)
  useEvents({ sessionId, types: REVIEW }, comments.reload)
  const { files, readMore } = useWholeFiles(sessionId, read.data)
  const status = session.data?.status
  return {
    session: session.data,
    isRunning: status === 'running' || status === 'waiting',
    turns: turns.data?.turns ?? [],
    worktree,
    unmerged: worktree && (unmerged.data?.files.length ?? null),
    read,
    files,
    comments: comments.data?.comments ?? NO_COMMENTS,
    readMore,
    reload,
  }
}

const NO_COMMENTS: readonly Comment[] = []
const NO_FILES: readonly FileChange[] = []

/** A change of many lines is cut; one file can be had with more of them. */
function useWholeFiles(
  sessionId: string,
  changes: Api['changes.read']['result'] | null,
): { files: readonly FileChange[]; readMore(path: string): void } {
  const [whole, setWhole] = useState<ReadonlyMap<string, FileChange>>(new Map())
  useEffect(() => setWhole(new Map()), [changes])
  const files = useMemo(
    () => changes?.files.map((file) => whole.get(file.path) ?? file) ?? NO_FILES,
    [changes, whole],
  )
  async function readAll(path: string): Promise<void> {
    if (!changes) return
    const { scope, turnId } = changes
    const wanted = { sessionId, scope, path, ...(scope === 'turn' && turnId !== null && { turnId }) }
    const [file] = (await client().call('changes.read', wanted)).files
    if (file) setWhole((before) => new Map([...before, [path, file]]))
  }
  return {
    files,
    readMore: (path) =>
      void readAll(path).catch((error: unknown) => toast(problemOf(error), { tone: 'bad' })),
  }
}
