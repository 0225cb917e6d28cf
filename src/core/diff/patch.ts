import type { ChangeLine } from '../file-change.ts'
import type { FoundHunk, Run } from './hunks.ts'

/** One file of a patch. The name is that behind `+++`, where it has one. */
export interface PatchedFile {
  path: string | null
  hunks: FoundHunk[]
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$/

interface Left {
  old: number
  new: number
}

/**
 * Reads a patch in the unified format, as models and agents write it: whatever is not understood is passed over. The counts of a
 * hunk say where it ends: a line that was removed may look like a header.
 */
export function patchedFiles(text: string): PatchedFile[] {
  const files: PatchedFile[] = []
  const lines = text.split('\n')
  let path: string | null = null
  let file: PatchedFile | null = null
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!
    const found = HUNK.exec(line)
    at += 1
    if (!found) {
      if (line.startsWith('+++ ')) {
        path = nameOf(line)
        file = null
      }
      continue
    }
    if (!file) files.push((file = { path, hunks: [] }))
    const { hunk, next } = readHunk(lines, at, found)
    file.hunks.push(hunk)
    at = next
  }
  return files
}

function readHunk(
  lines: readonly string[],
  from: number,
  found: RegExpExecArray,
): { hunk: FoundHunk; next: number } {
  const [, oldStart, oldLines = '1', newStart, newLines = '1', header = ''] = found
  const left: Left = { old: Number(oldLines), new: Number(newLines) }
  const runs: Run[] = []
  let at = from
  for (; at < lines.length && (left.old > 0 || left.new > 0); at++) {
    const line = lines[at]!
    if (line.startsWith('\\')) continue
    const kind = kindOf(line)
    if (kind === null) break
    if (kind !== '+') left.old -= 1
    if (kind !== '-') left.new -= 1
    runs.push({ kind, texts: [line.slice(1)] })
  }
  const [old, now] = [startOf(oldStart, oldLines), startOf(newStart, newLines)]
  return { hunk: { old, new: now, header, runs }, next: at }
}

/** An empty line of context often loses its space. */
function kindOf(line: string): ChangeLine['kind'] | null {
  const [first = ' '] = line
  return first === ' ' || first === '+' || first === '-' ? first : null
}

/** Where nothing begins, the number is that of the line before. */
function startOf(start: string | undefined, count: string): number {
  return Number(start) + (count === '0' ? 1 : 0)
}

/** `+++ b/name`, with a time behind a tab in some. */
function nameOf(line: string): string | null {
  const name = line.slice('+++ '.length).split('\t')[0]!.trim()
  return name === '' || name === '/dev/null' ? null : name.replace(/^b\//, '')
}
