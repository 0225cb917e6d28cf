import type { FileChange, Hunk } from '../../../src/core/file-change.ts'
import type { FoldReason } from '../../state/changes/folded.ts'
import { plural } from '../../state/figures.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { inertLine } from '../inert.ts'
import { CopyButton } from '../copy.tsx'

const STATUS: Readonly<Record<FileChange['status'], string | null>> = {
  added: 'new',
  deleted: 'deleted',
  renamed: 'renamed',
  modified: null,
}

const REASONS: Readonly<Record<FoldReason, string>> = {
  large: 'large',
  generated: 'generated',
  binary: 'binary',
}

interface FileRowProps {
  file: FileChange
  isOpen: boolean
  reason: FoldReason | null
  comments: number
  onToggle(): void
}

/** The name of a file, and how much of it comes and goes. */
export function FileRow({ file, isOpen, reason, comments, onToggle }: FileRowProps) {
  const status = STATUS[file.status]
  return (
    <div class="change-file">
      <div class="change-file-inner" role="gridcell">
        <button type="button" class="change-file-name" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
          <span>
            {file.oldPath !== null && <span class="muted">{inertLine(file.oldPath)} → </span>}
            {inertLine(file.path)}
          </span>
        </button>
        <CopyButton text={() => file.path} label={`Copy the path ${inertLine(file.path)}`} />
        {status !== null && <Badge>{status}</Badge>}
        {reason !== null && <Badge>{REASONS[reason]}</Badge>}
        {comments > 0 && <Badge tone="needs">{plural(comments, 'comment')}</Badge>}
        <Counts file={file} />
      </div>
    </div>
  )
}

export function Counts({
  file: { additions, deletions },
}: {
  file: Pick<FileChange, 'additions' | 'deletions'>
}) {
  return (
    <span class="change-counts numbers small">
      {additions > 0 && <span class="change-added">+{additions}</span>}
      {deletions > 0 && <span class="change-removed">−{deletions}</span>}
    </span>
  )
}

export function HunkRow({ hunk }: { hunk: Hunk }) {
  const { oldStart, oldLines, newStart, newLines, header } = hunk
  const range = (start: number, lines: number): string => (lines === 1 ? `${start}` : `${start},${lines}`)
  return (
    <div class="change-hunk small">
      <span role="gridcell" class="mono">
        @@ −{range(oldStart, oldLines)} +{range(newStart, newLines)} @@{' '}
        <span class="muted">{inertLine(header)}</span>
      </span>
    </div>
  )
}

/** What is to be said about a file instead of its lines, or after them. */
export function NoteRow({ text, onMore }: { text: string; onMore: (() => void) | null }) {
  return (
    <div class="change-note muted">
      <span role="gridcell" class="along">
        {text}
        {onMore && <Button label="Show more of it" onClick={onMore} />}
      </span>
    </div>
  )
}
