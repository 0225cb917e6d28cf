import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { CheckpointsDialog } from '../parts/changes/checkpoints.tsx'
import { Review } from '../parts/changes/review.tsx'
import { Toolbar, type Shape } from '../parts/changes/toolbar.tsx'
import { useChanges, type Changes } from '../parts/changes/use-changes.ts'
import { WorktreeActions } from '../parts/changes/worktree.tsx'
import { Empty } from '../parts/empty.tsx'
import { Failed } from '../parts/failed.tsx'
import { inertLine } from '../parts/inert.ts'
import { Page } from '../parts/page.tsx'
import { Spinner } from '../parts/spinner.tsx'
import { lastPart } from '../parts/use-sessions.ts'
import { PHONE, useMedia, WIDE } from '../parts/use-media.ts'
import { changesPath, changesQueryIn, type ChangesQuery, type Scope } from '../state/changes/scope.ts'
import { oneOf, remembered } from '../state/remembered.ts'
import { go } from '../state/router.ts'

const shape = remembered<Shape>('changes.shape', 'unified', oneOf('unified', 'split'))

/** What a session has changed: read, commented on, merged, taken back. */
export function ChangesPage({ id }: { id: string }) {
  const [query, setQuery] = useState<ChangesQuery>(() => changesQueryIn(location.search))
  const isWide = useMedia(WIDE)
  const changes = useChanges(id, query)
  const { read, turns } = changes
  function choose(next: ChangesQuery): void {
    setQuery(next)
    go(changesPath(id, next), { replace: true })
  }
  return (
    <Page title="Changes" actions={<Actions id={id} changes={changes} />}>
      <About id={id} changes={changes} />
      <Toolbar
        query={query}
        turns={turns.filter(({ startedAt }) => startedAt !== null)}
        shape={shape.value}
        isWide={isWide}
        onQuery={choose}
        onShape={(next) => (shape.value = next)}
      />
      {read.problem !== null && (
        <Failed what="The changes could not be read" problem={read.problem} onRetry={read.reload} />
      )}
      {!read.data && read.problem === null && <Spinner label="Looking what has changed" />}
      {read.data && changes.files.length === 0 && changes.comments.length === 0 && (
        <Nothing scope={query.scope} changes={changes} reason={read.data.reason} />
      )}
      {read.data && (changes.files.length > 0 || changes.comments.length > 0) && (
        <Review sessionId={id} changes={changes} split={isWide && shape.value === 'split'} isWide={isWide} />
      )}
    </Page>
  )
}

function Nothing({ scope, changes, reason }: { scope: Scope; changes: Changes; reason: string | null }) {
  const isMerged = scope === 'branch' && changes.worktree !== null && reason === null
  if (!isMerged || changes.turns.length === 0) {
    return (
      <Empty icon="file-diff" title="Nothing has changed">
        {reason}
      </Empty>
    )
  }
  return (
    <Empty
      icon="circle-check"
      title="Nothing is left to merge"
      actions={
        <a class="button" href="/">
          All sessions
        </a>
      }
    >
      Your repository has all that this session has changed. <em>Session</em> shows it.
    </Empty>
  )
}

function About({ id, changes: { session, isRunning, read, reload } }: { id: string; changes: Changes }) {
  return (
    <div class="changes-about muted">
      <span>
        <a href={`/s/${encodeURIComponent(id)}`}>
          {session ? inertLine(session.title || lastPart(session.cwd)) : 'The session'}
        </a>
        {isRunning && ' · a turn is running: what is shown may change'}
      </span>
      <Button
        kind="quiet"
        icon="refresh-cw"
        iconOnly
        label="Look again"
        busy={read.isLoading}
        onClick={reload}
      />
    </div>
  )
}

function Actions({ id, changes }: { id: string; changes: Changes }) {
  const [showsCheckpoints, setShowsCheckpoints] = useState(false)
  const isPhone = useMedia(PHONE)
  const { worktree, unmerged, session, turns, isRunning, reload } = changes
  return (
    <div class="section-actions">
      <Button
        icon="history"
        label="Checkpoints"
        iconOnly={isPhone && worktree !== null}
        onClick={() => setShowsCheckpoints(true)}
      />
      {worktree && session && (
        <WorktreeActions
          worktree={worktree}
          unmerged={unmerged}
          title={session.title ?? ''}
          isRunning={isRunning}
          onChanged={reload}
        />
      )}
      {showsCheckpoints && (
        <CheckpointsDialog
          sessionId={id}
          turns={turns}
          onClose={() => setShowsCheckpoints(false)}
          onRestored={reload}
        />
      )}
    </div>
  )
}
