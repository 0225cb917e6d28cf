import type { ChangeLine, FileChange, Hunk } from '../core/file-change.ts'
import type { GuardedGit } from './guarded.ts'
import { asName, namesIn, shown } from './names.ts'
import { DIFF } from './repository.ts'
import { parseUnifiedDiff, type DiffHunk, type DiffLine, type FileDiff } from './unified.ts'

export interface TreeDiff {
  files: FileChange[]
  truncated: boolean
}

export interface TreeDiffRequest {
  readonly from: string
  readonly to: string
  /** Only this file, whichever of its names it is, and more of it. */
  readonly path?: string | undefined
  /** No lines of any file. */
  readonly brief?: boolean | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** How much is shown: of one file, and of all together. */
const LIMITS = { files: 1000, lines: 20_000, linesOfFile: 2000, bytes: 4 * 1024 * 1024 }
const ONE_FILE = { ...LIMITS, files: 1, linesOfFile: LIMITS.lines }
const MAX_LINE = 4000
const MAX_LIST_BYTES = 16 * 1024 * 1024
const SLOW_MS = 60_000

type Limits = typeof LIMITS

/** One file of two trees, by what git says in a line. Names have a character for each byte. */
interface Listed {
  readonly name: string
  readonly oldName: string | null
  readonly status: FileChange['status']
  readonly isBinary: boolean
  readonly additions: number
  readonly deletions: number
}

/** What is different in two trees: all files in short, and as much of their lines as there is room for. */
export async function diffTrees(here: GuardedGit, request: TreeDiffRequest): Promise<TreeDiff> {
  const { from, to, path, brief = false, env = {} } = request
  if (from === to) return { files: [], truncated: false }
  const limits = path === undefined ? LIMITS : ONE_FILE
  const list = [...DIFF, '--raw', '--numstat', '--no-abbrev', '-z', from, to, '--']
  const { stdout, truncated } = await here.run(list, {
    env,
    maxBytes: MAX_LIST_BYTES,
    truncate: true,
    timeoutMs: SLOW_MS,
  })
  const wanted = path === undefined ? null : asName(path)
  const listed = parseList(namesIn(stdout)).filter(
    ({ name, oldName }) => wanted === null || name === wanted || oldName === wanted,
  )
  const shownFiles = listed.slice(0, limits.files)
  if (brief)
    return { files: fit(shownFiles, [], limits), truncated: truncated || listed.length > shownFiles.length }
  const names = path === undefined ? [] : shownFiles.flatMap(({ name, oldName }) => [name, oldName ?? name])
  const details = shownFiles.length === 0 ? [] : await detailsOf(here, { from, to, env, names }, limits)
  const files = fit(shownFiles, details, limits)
  return { files, truncated: truncated || listed.length > files.length || files.some((one) => one.truncated) }
}

async function detailsOf(
  here: GuardedGit,
  {
    from,
    to,
    env,
    names,
  }: { from: string; to: string; env: Readonly<Record<string, string>>; names: readonly string[] },
  { bytes: maxBytes }: Limits,
): Promise<FileDiff[]> {
  const paths = names.map(shown)
  const { stdout } = await here.run([...DIFF, from, to, '--', ...new Set(paths)], {
    env,
    maxBytes,
    truncate: true,
    timeoutMs: SLOW_MS,
  })
  return parseUnifiedDiff(stdout.toString())
}

const STATUS: Readonly<Record<string, FileChange['status']>> = { A: 'added', D: 'deleted', R: 'renamed' }

/** Reads `--raw --numstat -z`: first all files with their status, then all with their counts, in the same order. */
export function parseList(fields: readonly string[]): Listed[] {
  const files: Omit<Listed, 'isBinary' | 'additions' | 'deletions'>[] = []
  let at = 0
  for (; fields[at]?.startsWith(':'); at++) {
    const letter = fields[at]!.split(' ')[4]?.[0] ?? 'M'
    const isRenamed = letter === 'R' || letter === 'C'
    const oldName = isRenamed ? fields[++at]! : null
    files.push({ name: fields[++at] ?? '', oldName, status: STATUS[letter] ?? 'modified' })
  }
  const listed: Listed[] = []
  for (const file of files) {
    const [additions = '', deletions = '', name] = (fields[at++] ?? '').split('\t')
    // Of a renamed file the names are fields of their own.
    if (name === '') at += 2
    const isBinary = additions === '-'
    listed.push({
      ...file,
      isBinary,
      additions: Number(additions) || 0,
      deletions: Number(deletions) || 0,
    })
  }
  return listed
}

/** Puts both together, as far as there is room. */
function fit(listed: readonly Listed[], details: readonly FileDiff[], limits: Limits): FileChange[] {
  const byPath = Map.groupBy(details, ({ path }) => path)
  let room = limits.lines
  return listed.map(({ name, oldName, ...rest }) => {
    const path = shown(name)
    const hunks = (byPath.get(path) ?? []).flatMap((file) => file.hunks)
    const { kept, lines, isCut } = cut(hunks, Math.min(room, limits.linesOfFile))
    room -= lines
    const isShort = lines < rest.additions + rest.deletions
    return {
      path,
      oldPath: oldName === null ? null : shown(oldName),
      ...rest,
      hunks: kept,
      truncated: !rest.isBinary && (isCut || isShort),
    }
  })
}

function cut(hunks: readonly DiffHunk[], room: number): { kept: Hunk[]; lines: number; isCut: boolean } {
  const kept: Hunk[] = []
  let lines = 0
  let isCut = false
  for (const hunk of hunks) {
    const fits = hunk.lines.slice(0, room - lines)
    isCut ||= fits.length < hunk.lines.length || fits.some(({ content }) => content.length > MAX_LINE)
    if (fits.length === 0) break
    lines += fits.length
    const { oldStart, oldLines, newStart, newLines } = hunk
    kept.push({ oldStart, oldLines, newStart, newLines, header: titleOf(hunk), lines: fits.map(lineOf) })
  }
  return { kept, lines, isCut }
}

function titleOf({ header }: DiffHunk): string {
  return (/^@@ [^@]* @@ ?(.*)$/s.exec(header)?.[1] ?? '').slice(0, 200)
}

const KINDS = { context: ' ', added: '+', removed: '-' } as const

function lineOf({ type, content, oldLineNo, newLineNo }: DiffLine): ChangeLine {
  return { kind: KINDS[type], text: content.slice(0, MAX_LINE), old: oldLineNo, new: newLineNo }
}
