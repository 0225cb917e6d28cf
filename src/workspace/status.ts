export type FileState = 'untracked' | 'staged' | 'modified' | 'deleted' | 'conflict'

export interface FileStatus {
  readonly path: string
  /** Where a renamed or copied file comes from. */
  readonly oldPath: string | null
  readonly status: FileState
  /** git's two letters, index and working tree, `.` for unchanged. */
  readonly code: string
}

export interface RepoStatus {
  /** Canonical, without a slash at the end. */
  readonly root: string
  /** The branch, the short id of the commit when detached, or `HEAD` before the first commit. */
  readonly branch: string
  readonly detached: boolean
  readonly head: string | null
  readonly upstream: string | null
  readonly ahead: number
  readonly behind: number
  readonly remotes: readonly string[]
  /** One entry for each file, sorted as git does; untracked folders are listed file by file. */
  readonly files: readonly FileStatus[]
  readonly truncated: boolean
  readonly isClean: boolean
  readonly hasConflicts: boolean
}

const SHORT = 7

/** How many fields, counted from the type letter, stand before the path. */
const FIELDS_BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 }

/** Reads `git status --porcelain=v2 --branch -z`; a list that was cut loses its last, half entry. */
export function parseStatus(
  text: string,
  about: { root: string; remotes: readonly string[]; maxFiles: number },
): RepoStatus {
  const records = text.split('\0')
  records.pop()
  const headers = new Map<string, string>()
  const files: FileStatus[] = []
  for (let n = 0; n < records.length; n++) {
    const record = records[n]!
    if (record.startsWith('# ')) {
      const [, name = '', ...rest] = record.split(' ')
      headers.set(name, rest.join(' '))
      continue
    }
    const oldPath = record.startsWith('2 ') ? (records[++n] ?? null) : null
    const file = parseFile(record, oldPath)
    if (file) files.push(file)
  }
  return {
    root: about.root,
    ...parseBranch(headers),
    remotes: about.remotes,
    files: files.slice(0, about.maxFiles),
    truncated: files.length > about.maxFiles,
    isClean: files.length === 0,
    hasConflicts: files.some(({ status }) => status === 'conflict'),
  }
}

function parseFile(record: string, oldPath: string | null): FileStatus | null {
  const type = record[0] ?? ''
  const before = FIELDS_BEFORE_PATH[type]
  if (before === undefined) return null
  const path = record.split(' ').slice(before).join(' ')
  const code = type === '?' ? '??' : record.slice(2, 4)
  return { path, oldPath, status: stateOf(type, code), code }
}

/** What is staged wins over what is not. */
function stateOf(type: string, code: string): FileState {
  if (type === '?') return 'untracked'
  if (type === 'u') return 'conflict'
  if (code[0] !== '.') return 'staged'
  return code[1] === 'D' ? 'deleted' : 'modified'
}

function parseBranch(headers: ReadonlyMap<string, string>) {
  const oid = headers.get('branch.oid') ?? '(initial)'
  const name = headers.get('branch.head') ?? '(detached)'
  const head = oid === '(initial)' ? null : oid
  const detached = name === '(detached)'
  const [, ahead = '0', behind = '0'] = /^\+(\d+) -(\d+)$/.exec(headers.get('branch.ab') ?? '') ?? []
  return {
    branch: head === null ? 'HEAD' : detached ? head.slice(0, SHORT) : name,
    detached,
    head,
    upstream: headers.get('branch.upstream') ?? null,
    ahead: Number(ahead),
    behind: Number(behind),
  }
}
