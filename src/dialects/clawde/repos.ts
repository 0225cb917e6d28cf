import type { RepoStatus } from './ports.ts'
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
