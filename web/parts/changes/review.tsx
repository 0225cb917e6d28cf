import { useEffect, useMemo, useState } from 'preact/hooks'
import { addComment, writingOf } from '../../state/changes/review.ts'
import { commentsElsewhere } from '../../state/changes/rows.ts'
import { DiffView } from './diff-view.tsx'
import { FileChoice, FileList } from './file-list.tsx'
import { ReviewBar } from './review-bar.tsx'
import type { Changes } from './use-changes.ts'

interface ReviewProps {
  sessionId: string
  changes: Changes
  split: boolean
  isWide: boolean
}

/** The files, their lines, and what was said about them. */
export function Review({ sessionId, changes, split, isWide }: ReviewProps) {
  const { files, comments } = changes
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [seek, setSeek] = useState<{ path: string; wish: number } | null>(null)
  const writing = writingOf(sessionId)
  useHeldTogether(files, writing)
  const { shown, elsewhere } = useMemo(() => {
    const fresh = comments.filter(({ stale }) => !stale)
    const lost = new Set(commentsElsewhere(files, fresh))
    const waiting = comments.filter((one) => one.sentIn === null && (one.stale || lost.has(one)))
    return { shown: fresh.filter((one) => !lost.has(one)), elsewhere: waiting }
  }, [files, comments])

  const toggle = (path: string, isOpen: boolean): void => setToggled(new Map([...toggled, [path, isOpen]]))
  const goTo = (path: string): void => setSeek({ path, wish: (seek?.wish ?? 0) + 1 })
  const list = { files, truncated: changes.read.data?.truncated ?? false, onChoose: goTo }
  return (
    <div class="changes">
      {isWide ? <FileList {...list} /> : <FileChoice {...list} />}
      <div class="changes-main">
        <DiffView
          files={files}
          split={split}
          comments={shown}
          writing={writing.value}
          toggled={toggled}
          seek={seek}
          onToggle={toggle}
          onWrite={(next) => (writing.value = next)}
          onAdd={async (text) => {
            await addComment(sessionId, { place: writing.value!.place, text }, files)
            writing.value = null
          }}
          onMore={changes.readMore}
        />
        <ReviewBar
          sessionId={sessionId}
          comments={comments}
          elsewhere={elsewhere}
          isRunning={changes.isRunning}
        />
      </div>
    </div>
  )
}

/** A file in which somebody writes is open, whatever it is. */
function useHeldTogether(files: Changes['files'], writing: ReturnType<typeof writingOf>): void {
  useEffect(() => {
    const place = writing.peek()?.place
    if (place && !files.some(({ path }) => path === place.path)) writing.value = null
  }, [files])
}
