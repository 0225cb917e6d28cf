import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { ChangeLine, FileChange, Hunk } from '../../src/core/file-change.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { inert, inertLine } from './inert.ts'
import { pieces, wordRanges, type WordRange } from './words.ts'

/** Of one file, before somebody asks for the rest. */
const FIRST_LINES = 200

export interface DiffLineProps {
  /** What stands below a line: comments, say. */
  below?: ((line: ChangeLine) => ComponentChildren) | undefined
  /** Somebody wants to say something about a line. */
  onLine?: ((line: ChangeLine) => void) | undefined
}

/** What becomes of some files, one below the other. Several files begin closed but the first. */
export function Diff({ files, ...line }: { files: readonly FileChange[] } & DiffLineProps) {
  return (
    <div class="diff">
      {files.map((file, at) => (
        <FileDiff key={file.path} file={file} isOpen={at === 0 || files.length <= 3} {...line} />
      ))}
    </div>
  )
}

export interface FileDiffProps extends DiffLineProps {
  file: FileChange
  isOpen?: boolean
}

/** One file: its name, how much comes and goes, and the lines. */
export function FileDiff({ file, isOpen = true, ...line }: FileDiffProps) {
  const [open, setOpen] = useState(isOpen)
  return (
    <section class="diff-file" aria-label={inertLine(file.path)}>
      <button type="button" class="diff-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <span class="diff-path">
          {file.oldPath !== null && `${inertLine(file.oldPath)} → `}
          {inertLine(file.path)}
        </span>
        <Counts file={file} />
      </button>
      {open && <Body file={file} line={line} />}
    </section>
  )
}

const STATUS: Readonly<Record<FileChange['status'], string | null>> = {
  added: 'new',
  deleted: 'deleted',
  renamed: 'renamed',
  modified: null,
}

function Counts({ file: { status, additions, deletions } }: { file: FileChange }) {
  return (
    <span class="diff-counts numbers">
      {STATUS[status] !== null && <span class="muted">{STATUS[status]}</span>}
      {additions > 0 && <span class="diff-plus">+{additions}</span>}
      {deletions > 0 && <span class="diff-minus">−{deletions}</span>}
    </span>
  )
}

function Body({ file, line }: { file: FileChange; line: DiffLineProps }) {
  const [all, setAll] = useState(false)
  const { isBinary, hunks, truncated } = file
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  if (isBinary) return <p class="diff-note">Not a text: nothing to show.</p>
  if (total === 0) return <p class="diff-note">{truncated ? 'Too large to show.' : 'No line changes.'}</p>
  const shown = all ? hunks : firstLines(hunks, FIRST_LINES)
  const left = total - shown.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  return (
    <div class="diff-body">
      <table class="diff-table">
        <caption class="aside">Changes of {inertLine(file.path)}</caption>
        <colgroup>
          <col class="diff-numbers" />
          <col class="diff-numbers" />
          <col />
        </colgroup>
        {shown.map((hunk, at) => (
          <HunkLines key={at} hunk={hunk} {...line} />
        ))}
      </table>
      {left > 0 && <Button kind="quiet" label={`Show ${left} more lines`} onClick={() => setAll(true)} />}
      {truncated && <p class="diff-note">There is more that is too large to show.</p>}
    </div>
  )
}

function firstLines(hunks: readonly Hunk[], limit: number): Hunk[] {
  let left = limit
  return hunks.flatMap((hunk) => {
    if (left <= 0) return []
    const lines = hunk.lines.slice(0, left)
    left -= lines.length
    return [{ ...hunk, lines }]
  })
}

function HunkLines({ hunk, below, onLine }: { hunk: Hunk } & DiffLineProps) {
  const words = useMemo(() => wordRanges(hunk.lines), [hunk])
  return (
    <tbody>
      <tr class="diff-hunk">
        <td colSpan={3}>
          Line {hunk.newStart || hunk.oldStart}
          {hunk.header !== '' && <span class="muted"> {inertLine(hunk.header)}</span>}
        </td>
      </tr>
      {hunk.lines.map((line, at) => (
        <Line key={at} line={line} ranges={words.get(at) ?? NONE} below={below} onLine={onLine} />
      ))}
    </tbody>
  )
}

const NONE: readonly WordRange[] = []
const KINDS = { ' ': 'same', '+': 'plus', '-': 'minus' } as const
const SPOKEN = { ' ': '', '+': 'added: ', '-': 'removed: ' } as const

function Line({
  line,
  ranges,
  below,
  onLine,
}: { line: ChangeLine; ranges: readonly WordRange[] } & DiffLineProps) {
  const under = below?.(line) ?? null
  return (
    <>
      <tr class={`diff-line diff-${KINDS[line.kind]}`}>
        <td class="diff-number" data-number={line.old ?? ''} />
        <td class="diff-number" data-number={line.new ?? ''}>
          {onLine && (
            <Button
              class="diff-add"
              kind="quiet"
              icon="plus"
              iconOnly
              label={`Comment on line ${line.new ?? line.old}`}
              onClick={() => onLine(line)}
            />
          )}
        </td>
        <td class="diff-text">
          {line.kind !== ' ' && <span class="aside">{SPOKEN[line.kind]}</span>}
          {ranges.length === 0 ? inert(line.text) : pieces(line.text, ranges).map(marked)}
        </td>
      </tr>
      {under !== null && (
        <tr class="diff-below">
          <td colSpan={3}>{under}</td>
        </tr>
      )}
    </>
  )
}

function marked(part: { text: string; marked: boolean }, at: number) {
  const text = inert(part.text)
  return part.marked ? (
    <span key={at} class="diff-word">
      {text}
    </span>
  ) : (
    text
  )
}
