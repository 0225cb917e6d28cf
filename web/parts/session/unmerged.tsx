import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { changesPath } from '../../state/changes/scope.ts'
import { plural } from '../../state/figures.ts'
import { rowOf } from '../../state/sessions.ts'
import { Icon } from '../icon.tsx'
import { useCall } from '../use-call.ts'

/** While a session with a worktree of its own rests: what it has there and nobody has merged, and the way to that. */
export function Unmerged({ view }: { view: SessionView }) {
  const isResting = view.status === 'idle' && rowOf(view.id)?.worktree === true && view.turnCount > 0
  return isResting ? <Waiting key={view.activeAt} sessionId={view.id} /> : null
}

function Waiting({ sessionId }: { sessionId: string }) {
  const { data } = useCall('changes.read', { sessionId, scope: 'branch', brief: true })
  const files = data?.files ?? []
  if (files.length === 0) return null
  return (
    <div class="unmerged" role="status">
      <Icon name="git-branch" />
      <span class="unmerged-words">{plural(files.length, 'file')} changed, not merged yet</span>
      <a class="button" href={changesPath(sessionId, { scope: 'branch', turnId: null })}>
        <Icon name="file-diff" />
        See the changes
      </a>
    </div>
  )
}
