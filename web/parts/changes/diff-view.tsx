import type { VNode } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { FileChange } from '../../../src/core/file-change.ts'
import type { Place } from '../../state/changes/place.ts'
import type { Comment, Writing } from '../../state/changes/review.ts'
import { rowsOf, type Row } from '../../state/changes/rows.ts'
import { VirtualLines, type VirtualLinesProps } from '../virtual-lines.tsx'
import { useChoosing, type Choosing } from './choosing.ts'
import { CommentsRow, EditorRow } from './comment-row.tsx'
import { FileRow, HunkRow, NoteRow } from './file-row.tsx'
import { SplitLine, UnifiedLine } from './line-row.tsx'

export interface DiffViewProps {
  files: readonly FileChange[]
  split: boolean
  comments: readonly Comment[]
  /** Null: nobody writes one. */
  writing: Writing | null
  /** Files that somebody has opened or folded. */
  toggled: ReadonlyMap<string, boolean>
  /** This file is to be seen; another number for each wish. */
  seek: { path: string; wish: number } | null
  onToggle(path: string, isOpen: boolean): void
  onWrite(writing: Writing | null): void
  onAdd(text: string): Promise<void>
  /** More of a file that was cut. */
  onMore(path: string): void
}

/** Changes of any number of files, of which only what is near the visible part is drawn. */
export function DiffView(props: DiffViewProps) {
  const { files, split, comments, writing, toggled, seek } = props
  const editing = writing?.place ?? null
  const rows = useMemo(
    () => rowsOf(files, { split, toggled, comments, editing }),
    [files, split, toggled, comments, editing],
  )
  const keys = useMemo(() => rows.map(({ key }) => key), [rows])
  const onComment = (place: Place): void => props.onWrite({ place, text: writing?.text ?? '' })
  const choosing = useChoosing({ rows, canComment: true, onComment })
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (choosing.wish > 0) focusRow(root.current, choosing.cursor)
  }, [choosing.wish])
  useAfterWriting(writing !== null, choosing.leave)
  const editor = rows.findIndex(({ kind }) => kind === 'editor')
  return (
    <div
      ref={root}
      class={split ? 'changes-view changes-split' : 'changes-view'}
      role="grid"
      aria-label="Changes"
      aria-rowcount={rows.length}
      {...choosing.handlers}
    >
      <VirtualLines
        keys={keys}
        kind={(index) => rows[index]!.kind}
        line={useRows(rows, choosing, props)}
        kept={[choosing.cursor, editor]}
        seek={useSeek(rows, seek, choosing)}
      />
    </div>
  )
}

function useAfterWriting(isWriting: boolean, leave: () => void): void {
  const was = useRef(isWriting)
  useEffect(() => {
    if (was.current && !isWriting) leave()
    was.current = isWriting
  }, [isWriting])
}

/** Rows that are the same as before are not drawn again while somebody scrolls. */
function useRows(
  rows: readonly Row<Comment>[],
  choosing: Choosing,
  props: DiffViewProps,
): (index: number) => VNode {
  const { chosen, cursor } = choosing
  const drawn = useMemo(() => new Map<number, VNode>(), [rows, chosen, cursor, props.writing])
  return (index) => {
    let row = drawn.get(index)
    if (!row)
      drawn.set(
        index,
        (row = <DrawnRow row={rows[index]!} index={index} choosing={choosing} props={props} />),
      )
    return row
  }
}

interface DrawnRowProps {
  row: Row<Comment>
  index: number
  choosing: Choosing
  props: DiffViewProps
}

function DrawnRow({ row, index, choosing: { chosen, cursor }, props }: DrawnRowProps) {
  const isLine = row.kind === 'line' || row.kind === 'pair'
  const tabIndex = isLine ? (index === cursor || (cursor === -1 && index === 2) ? 0 : -1) : undefined
  return (
    <div
      class={isLine ? 'change-row' : 'change-other'}
      role="row"
      aria-rowindex={index + 1}
      tabIndex={tabIndex}
    >
      <RowContent row={row} chosen={chosen} props={props} />
    </div>
  )
}

function RowContent({
  row,
  chosen,
  props,
}: {
  row: Row<Comment>
  chosen: Place | null
  props: DiffViewProps
}) {
  switch (row.kind) {
    case 'file':
      return <FileRow {...row} onToggle={() => props.onToggle(row.file.path, !row.isOpen)} />
    case 'hunk':
      return <HunkRow hunk={row.hunk} />
    case 'line':
      return <UnifiedLine row={row} look={{ chosen, canComment: true }} />
    case 'pair':
      return <SplitLine row={row} look={{ chosen, canComment: true }} />
    case 'note':
      return <NoteRow text={row.text} onMore={row.isCut ? () => props.onMore(row.file.path) : null} />
    case 'comments':
      return <CommentsRow comments={row.comments} />
    case 'editor':
      return (
        props.writing && <EditorRow writing={props.writing} onChange={props.onWrite} onAdd={props.onAdd} />
      )
  }
}

interface Wished {
  cursorWish: number
  fileWish: number
  count: number
  index: number
  align: 'auto' | 'start'
}

/** The line with the cursor, or the file that was wished for last. */
function useSeek(
  rows: readonly Row<Comment>[],
  wanted: DiffViewProps['seek'],
  { cursor, wish }: Choosing,
): VirtualLinesProps['seek'] {
  const last = useRef<Wished>({ cursorWish: 0, fileWish: 0, count: 0, index: -1, align: 'auto' })
  if (wish !== last.current.cursorWish) {
    last.current = {
      ...last.current,
      cursorWish: wish,
      count: last.current.count + 1,
      index: cursor,
      align: 'auto',
    }
  }
  if (wanted && wanted.wish !== last.current.fileWish) {
    const index = rows.findIndex(({ key }) => key === `f:${wanted.path}`)
    last.current = {
      ...last.current,
      fileWish: wanted.wish,
      count: last.current.count + 1,
      index,
      align: 'start',
    }
  }
  const { index, count, align } = last.current
  return count === 0 ? null : { index, wish: count, align }
}

/** The row may be drawn a frame later. */
function focusRow(root: HTMLElement | null, index: number): void {
  const find = (): HTMLElement | null | undefined =>
    root?.querySelector<HTMLElement>(`[data-index="${index}"] > .change-row`)
  const row = find()
  if (row) row.focus({ preventScroll: true })
  else requestAnimationFrame(() => find()?.focus({ preventScroll: true }))
}
