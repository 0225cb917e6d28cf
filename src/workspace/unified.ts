export interface DiffLine {
  readonly type: 'context' | 'added' | 'removed'
  readonly content: string
  readonly oldLineNo: number | null
  readonly newLineNo: number | null
  /** The last line of a file that does not end with a line feed. */
  readonly noNewline?: true
}

export interface DiffHunk {
  readonly header: string
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly DiffLine[]
}

export interface FileDiff {
  readonly path: string
  /** The name before, unless the file is new. */
  readonly oldPath: string | null
  readonly change: 'added' | 'deleted' | 'renamed' | 'modified'
  readonly isBinary: boolean
  readonly hunks: readonly DiffHunk[]
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Reads what `git diff` prints with the prefixes `a/` and `b/`. Only a line feed ends a line. */
export function parseUnifiedDiff(text: string): FileDiff[] {
  const lines = text.split('\n')
  const files: FileDiff[] = []
  let at = 0
  while (at < lines.length) {
    if (!lines[at]!.startsWith('diff --git ')) {
      at++
      continue
    }
    const start = at++
    while (at < lines.length && !isHeaderEnd(lines[at]!)) at++
    const header = lines.slice(start, at)
    const hunks: DiffHunk[] = []
    for (let match = HUNK.exec(lines[at] ?? ''); match; match = HUNK.exec(lines[at] ?? '')) {
      const hunk = parseHunk(lines, at, match)
      hunks.push(hunk)
      at += 1 + hunk.lines.length + hunk.lines.filter((line) => line.noNewline).length
    }
    files.push(fileOf(header, hunks))
  }
  return files
}

function isHeaderEnd(line: string): boolean {
  return line.startsWith('@@ ') || line.startsWith('diff --git ')
}

/** The header's counts say where a hunk ends: a removed line may itself look like a header. */
function parseHunk(lines: readonly string[], at: number, match: RegExpExecArray): DiffHunk {
  const [oldStart, oldLines, newStart, newLines] = [match[1], match[2] ?? 1, match[3], match[4] ?? 1].map(
    Number,
  ) as [number, number, number, number]
  const found: DiffLine[] = []
  let [oldLineNo, newLineNo] = [oldStart, newStart]
  const isOpen = (): boolean => oldLineNo < oldStart + oldLines || newLineNo < newStart + newLines
  for (let n = at + 1; n < lines.length && (isOpen() || lines[n]!.startsWith('\\')); n++) {
    const line = lines[n]!
    const content = line.slice(1)
    if (line.startsWith('+')) {
      found.push({ type: 'added', content, oldLineNo: null, newLineNo: newLineNo++ })
    } else if (line.startsWith('-')) {
      found.push({ type: 'removed', content, oldLineNo: oldLineNo++, newLineNo: null })
    } else if (line.startsWith(' ')) {
      found.push({ type: 'context', content, oldLineNo: oldLineNo++, newLineNo: newLineNo++ })
    } else if (line.startsWith('\\') && found.length > 0) {
      found.push({ ...found.pop()!, noNewline: true })
    } else break
  }
  return { header: lines[at]!, oldStart, oldLines, newStart, newLines, lines: found }
}

function fileOf(header: readonly string[], hunks: readonly DiffHunk[]): FileDiff {
  const after = (prefix: string): string | null =>
    header.find((line) => line.startsWith(prefix))?.slice(prefix.length) ?? null
  const has = (prefix: string): boolean => after(prefix) !== null
  const fromName = after('rename from ') ?? after('copy from ')
  const toName = after('rename to ') ?? after('copy to ')
  const isBinary = has('Binary files ') || has('GIT binary patch')
  if (fromName !== null && toName !== null)
    return { path: unquoted(toName), oldPath: unquoted(fromName), change: 'renamed', isBinary, hunks }
  const path =
    nameAfter(after('+++ '), 'b/') ?? nameAfter(after('--- '), 'a/') ?? nameInTitle(header[0] ?? '')
  if (has('new file mode ')) return { path, oldPath: null, change: 'added', isBinary, hunks }
  return { path, oldPath: path, change: has('deleted file mode ') ? 'deleted' : 'modified', isBinary, hunks }
}

/** git ends a name that has a space in it with a tab, so that others see where it ends. */
function nameAfter(text: string | null, prefix: string): string | null {
  if (text === null || text === '/dev/null') return null
  return unquoted(text.replace(/\t$/, '')).slice(prefix.length)
}

/** Both names of `diff --git a/X b/X` are the same where nothing else in the header names the file. */
function nameInTitle(title: string): string {
  const rest = title.slice('diff --git '.length)
  return unquoted(rest.slice(0, (rest.length - 1) / 2)).slice('a/'.length)
}

const ESCAPED = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['v', '\v'],
])

function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name
  return name
    .slice(1, -1)
    .replace(/((?:\\[0-7]{3})+)|\\(.)/g, (_, octal: string | undefined, letter: string) =>
      octal === undefined ? (ESCAPED.get(letter) ?? letter) : fromOctal(octal),
    )
}

function fromOctal(text: string): string {
  const bytes = text
    .split('\\')
    .slice(1)
    .map((digits) => Number.parseInt(digits, 8))
  return Buffer.from(bytes).toString()
}
