import type { RepoStatus } from '../ports.ts'
import { bothWays } from './spelling.ts'

/** What `repo.open` and `repo.status` answer and `repo.statusChanged` tells: the fields of every age. */
export function repoView(status: RepoStatus) {
  const { root, branch, detached, remotes, isClean, ahead, behind, hasConflicts, truncated } = status
  return bothWays({
    repoPath: root,
    path: root,
    branch,
    detached,
    remotes,
    isClean,
    ahead,
    behind,
    ...changedIn(status),
    files: status.files.map(({ path, oldPath, status: state }) => ({
      path,
      status: state,
      ...(oldPath !== null && bothWays({ oldPath })),
    })),
    hasConflicts,
    truncated,
    lastUpdated: new Date().toISOString(),
  })
}

/** A file that was changed again after it was staged is in two of the lists; one with a conflict is yet to be staged. */
function changedIn({ files }: RepoStatus) {
  const where = (fits: (file: RepoStatus['files'][number]) => boolean): string[] =>
    files.filter(fits).map(({ path }) => path)
  const isUntracked = (status: string): boolean => status === 'untracked'
  return {
    staged: where(
      ({ code, status }) => !isUntracked(status) && status !== 'conflict' && !code.startsWith('.'),
    ),
    unstaged: where(
      ({ code, status }) => !isUntracked(status) && (status === 'conflict' || !code.endsWith('.')),
    ),
    untracked: where(({ status }) => isUntracked(status)),
  }
}
