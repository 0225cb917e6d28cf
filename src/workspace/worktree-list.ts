/** A worktree of a session as git knows it. */
export interface WorktreeEntry {
  readonly id: string
  readonly path: string
  /** The checkout that it was made from: where its work goes back to. */
  readonly from: string | null
  /** What is checked out there now; the agent may have changed it. */
  readonly branch: string | null
  readonly head: string | null
  /** The commit that its changes are counted from. */
  readonly base: string | null
  readonly isCarried: boolean
  /** The folder is not there. */
  readonly isMissing: boolean
  /** The branch that was made for it. Null: it is an older one, whose branch has its id. */
  readonly made: string | null
  /** There is not even a worktree, only its refs. */
  readonly isLeftOver: boolean
}

/** The checkout is in quotes: git takes spaces at the end of a reason away. */
const REASON = /^corral session (\S+) of (".*")$/s
const REF = /^refs\/corral\/([^/]+)\/(?:base|carried|branch\/(.+))$/s

export function reasonOf(id: string, from: string): string {
  return `corral session ${id} of ${JSON.stringify(from)}`
}

export function baseRef(id: string): string {
  return `refs/corral/${id}/base`
}

/** There, and the same as the base at the start, if uncommitted work was carried over. */
export function carriedRef(id: string): string {
  return `refs/corral/${id}/carried`
}

/** Its name says which branch was made for the worktree, and outlives the worktree. */
export function branchRef(id: string, branch: string): string {
  return `refs/corral/${id}/branch/${branch}`
}

export function refsOf(id: string, made: string | null): string[] {
  return [baseRef(id), carriedRef(id), ...(made === null ? [] : [branchRef(id, made)])]
}

/**
 * Reads `git worktree list --porcelain -z`, and lines of ref and object below `refs/corral/`. Whether the folders
 * are there it cannot say: git does not tell for worktrees that are locked.
 */
export function parseWorktrees(listing: string, refLines: string): WorktreeEntry[] {
  const refs = new Map(
    refLines
      .split('\n')
      .filter((line) => line.includes('\0'))
      .map((line) => line.split('\0') as [string, string]),
  )
  const made = new Map(
    [...refs.keys()].flatMap((ref): [string, string][] => {
      const [, id, branch] = REF.exec(ref) ?? []
      return id !== undefined && branch !== undefined ? [[id, branch]] : []
    }),
  )
  const about = (id: string) => ({
    base: refs.get(baseRef(id)) ?? null,
    isCarried: refs.has(carriedRef(id)),
    made: made.get(id) ?? null,
  })
  const entries = listing.split('\0\0').flatMap((text): WorktreeEntry[] => {
    const fields = fieldsOf(text)
    const [, id, from] = REASON.exec(fields.get('locked') ?? '') ?? []
    if (id === undefined || from === undefined) return []
    return [{ id, from: pathIn(from), ...placeOf(fields), ...about(id), isLeftOver: false }]
  })
  const known = new Set(entries.map(({ id }) => id))
  const left = new Set(
    [...refs.keys()].flatMap((ref) => REF.exec(ref)?.[1] ?? []).filter((id) => !known.has(id)),
  )
  const leftOvers = [...left].map((id) => {
    const nowhere = { path: '', from: null, branch: null, head: null, isMissing: true, isLeftOver: true }
    return { id, ...nowhere, ...about(id) }
  })
  return [...entries, ...leftOvers]
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(
    text.split('\0').map((field) => {
      const space = field.indexOf(' ')
      return space < 0 ? [field, ''] : [field.slice(0, space), field.slice(space + 1)]
    }),
  )
}

/** A lock is a file that somebody else may have written. */
function pathIn(quoted: string): string | null {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return null
  }
}

function placeOf(fields: ReadonlyMap<string, string>) {
  return {
    isMissing: false,
    path: fields.get('worktree') ?? '',
    branch: fields.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
    head: fields.get('HEAD') ?? null,
  }
}
