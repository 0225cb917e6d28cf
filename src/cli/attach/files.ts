import type { FileChange } from '../../core/file-change.ts'
import { exact } from '../../core/inert.ts'
import { clean } from '../format.ts'
import { span, wrapped, type Line, type Look, type Sheet } from './spans.ts'

const LOOKS: Readonly<Record<'+' | '-' | ' ', readonly Look[]>> = { '+': ['green'], '-': ['red'], ' ': [] }

/** What becomes of files, as git would print it. At most so many lines are shown; it is said how many more there are. */
export function diffLines(files: readonly FileChange[], sheet: Sheet, most: number): Line[] {
  const all = files.flatMap((file) => fileLines(file, sheet, most))
  if (all.length <= most) return all
  return [...all.slice(0, most), [span(`  … ${all.length - most} more lines`, 'dim')]]
}

function fileLines(file: FileChange, sheet: Sheet, most: number): Line[] {
  const { path, oldPath, status, additions, deletions, isBinary, hunks, truncated } = file
  const name = clean(oldPath === null ? path : `${oldPath} → ${path}`).replaceAll('\n', ' ')
  const title = [
    span(`${status} `, 'dim'),
    span(name, 'bold'),
    span(` +${additions}`, 'green'),
    span(` -${deletions}`, 'red'),
  ]
  const lines = wrapped(title, { ...sheet, rest: [span('  ')] })
  if (isBinary) lines.push([span('  (binary)', 'dim')])
  const digits = String(Math.max(1, ...hunks.map((hunk) => hunk.newStart + hunk.newLines))).length
  for (const [at, hunk] of hunks.entries()) {
    if (lines.length > most) break
    if (at > 0) lines.push([span(`${' '.repeat(digits + 1)}⋮`, 'dim')])
    for (const { kind, text, old, new: now } of hunk.lines) {
      const number = String(now ?? old ?? '').padStart(digits)
      const first = [span(`${number} `, 'dim'), span(kind, ...LOOKS[kind])]
      const rest = [span(' '.repeat(digits + 1)), span(kind, ...LOOKS[kind])]
      lines.push(
        ...wrapped([span(exact(text), ...LOOKS[kind])], { width: sheet.width, first, rest, hard: true }),
      )
    }
  }
  if (truncated) lines.push([span('  …', 'dim')])
  return lines
}
