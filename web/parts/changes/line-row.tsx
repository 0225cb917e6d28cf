import type { ChangeLine, FileChange, Hunk } from '../../../src/core/file-change.ts'
import { isIn, type Place, type Side } from '../../state/changes/place.ts'
import type { LineRow, PairRow } from '../../state/changes/rows.ts'
import { Icon } from '../icon.tsx'
import { LineText } from './line-text.tsx'

export interface LineLook {
  /** The lines that are chosen. */
  chosen: Place | null
  /** Whether lines can be commented on. */
  canComment: boolean
}

const KINDS: Readonly<Record<ChangeLine['kind'], string>> = { ' ': 'same', '+': 'plus', '-': 'minus' }

/** One below the other: both numbers, and the text. */
export function UnifiedLine({ row, look }: { row: LineRow; look: LineLook }) {
  const { file, hunk, at } = row
  const line = hunk.lines[at]!
  const side: Side = line.new === null ? 'old' : 'new'
  const isChosen = isIn(look.chosen, file.path, side, line[side])
  return (
    <div class={`change-line change-${KINDS[line.kind]}${isChosen ? ' change-chosen' : ''}`}>
      <span class="change-gutter" role="gridcell" data-side={side}>
        <span class="change-number" data-number={line.old ?? ''} />
        <span class="change-number" data-number={line.new ?? ''} />
        {look.canComment && <Add number={line.new ?? line.old!} />}
      </span>
      <code class="change-text" role="gridcell">
        <LineText file={file} hunk={hunk} at={at} />
      </code>
    </div>
  )
}

/** Side by side: what was, and what is. */
export function SplitLine({ row, look }: { row: PairRow; look: LineLook }) {
  const { file, hunk, left, right } = row
  return (
    <div class="change-pair">
      <Half file={file} hunk={hunk} at={left} side="old" look={look} />
      <Half file={file} hunk={hunk} at={right} side="new" look={look} />
    </div>
  )
}

interface HalfProps {
  file: FileChange
  hunk: Hunk
  at: number | null
  side: Side
  look: LineLook
}

function Half({ file, hunk, at, side, look }: HalfProps) {
  const line = at === null ? null : hunk.lines[at]!
  if (!line || at === null) return <div class="change-half change-nothing" role="gridcell" />
  const number = line[side]!
  // A line of both versions is commented on in the new one.
  const isMine = side === 'new' || line.new === null
  const isChosen = isMine && isIn(look.chosen, file.path, side, number)
  return (
    <div class={`change-half change-${KINDS[line.kind]}${isChosen ? ' change-chosen' : ''}`}>
      <span class="change-gutter" role="gridcell" data-side={side}>
        <span class="change-number" data-number={number} />
        {look.canComment && isMine && <Add number={number} />}
      </span>
      <code class="change-text" role="gridcell">
        <LineText file={file} hunk={hunk} at={at} />
      </code>
    </div>
  )
}

/** For a pointer; the keyboard has Enter on the line. */
function Add({ number }: { number: number }) {
  return (
    <button type="button" class="change-add" tabIndex={-1} aria-label={`Comment on line ${number}`}>
      <Icon name="plus" />
    </button>
  )
}
