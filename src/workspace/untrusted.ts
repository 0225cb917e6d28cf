import { CorralError } from '../core/error.ts'

/** What the configuration that holds for a repository says, as far as it matters to us. Made by `readConfig`. */
export interface RepoConfig {
  readonly remotes: readonly string[]
  /** Settings that take the commands out of what the repository itself configures. */
  readonly overrides: readonly (readonly [key: string, value: string])[]
  /** Filters that are thereby switched off: files that need them must not be written or committed by us. */
  readonly disabledFilters: ReadonlySet<string>
  /** The repository's settings are in its own files only: what those say can be remembered as long as they stay the same. */
  readonly isWhole: boolean
  readonly name: string | null
  readonly email: string | null
}

interface Entry {
  readonly scope: string
  readonly key: string
  readonly value: string
}

const MAX_OVERRIDES = 500
const OWN_SCOPES: ReadonlySet<string> = new Set(['local', 'worktree'])

/** Commands that no flag switches off: content filters, merge drivers, and what git-lfs would start. */
const FILTER = /^filter\.(.*)\.(clean|smudge|process|required)$/s
const MERGE_DRIVER = /^merge\.(.*)\.driver$/s
const LFS_COMMAND = /^lfs\.(extension\..*|customtransfer\..*|(.*\.)?standalonetransferagent)$/s

/** Flags for each merge into a branch, which may have it signed, or be another merge than the one that was asked for. */
const MERGE_OPTIONS = /^branch\..*\.mergeoptions$/s

/** Whether and what is included may depend on the branch, on other settings, or on a file that is not there yet. */
const INCLUDE = /^include(if\..*)?\.path$/s

/** What `git lfs install --local` writes: a known program and no choice of the repository's. */
const LFS_FILTER: Readonly<Record<string, RegExp>> = {
  clean: /^git-lfs clean -- %f$/,
  smudge: /^git-lfs smudge( --skip)? -- %f$/,
  process: /^git-lfs filter-process( --skip)?$/,
  required: /^true$/,
}

/** Reads `git config --list --show-scope -z`. The user's own settings are trusted, the repository's are not. */
export function readConfig(listing: string): RepoConfig {
  const entries = entriesOf(listing)
  const own = entries.filter((entry) => OWN_SCOPES.has(entry.scope))
  const filters = [...new Set(own.flatMap(({ key }) => FILTER.exec(key)?.[1] ?? []))]
  const disabledFilters = new Set(filters.filter((name) => !isPlainLfs(name, own)))
  const overrides = [
    ...[...disabledFilters].flatMap(withoutFilter),
    ...own.flatMap(({ key }) => withoutDriver(key)),
    ...own.filter(({ key }) => LFS_COMMAND.test(key)).map(({ key }) => [key, ''] as const),
    ...entries.filter(({ key }) => MERGE_OPTIONS.test(key)).map(({ key }) => [key, '--ff-only'] as const),
  ]
  if (overrides.length > MAX_OVERRIDES || overrides.some(([key]) => key.includes('\uFFFD')))
    throw new CorralError('git_failed', 'The configuration of this repository cannot be made safe')
  const last = (key: string): string | null =>
    entries.findLast((entry) => entry.key === key && entry.value !== '')?.value ?? null
  return {
    remotes: remotesOf(entries),
    overrides,
    disabledFilters,
    isWhole: !own.some(({ key }) => INCLUDE.test(key)),
    name: last('user.name'),
    email: last('user.email'),
  }
}

function entriesOf(listing: string): Entry[] {
  const fields = listing.split('\0')
  const entries: Entry[] = []
  for (let n = 0; n + 1 < fields.length; n += 2) {
    const [scope = '', text = ''] = [fields[n], fields[n + 1]]
    const end = text.indexOf('\n')
    entries.push({
      scope,
      key: end < 0 ? text : text.slice(0, end),
      value: end < 0 ? '' : text.slice(end + 1),
    })
  }
  return entries
}

function isPlainLfs(name: string, own: readonly Entry[]): boolean {
  if (name !== 'lfs') return false
  return own.every(({ key, value }) => {
    const [, filter, part = ''] = FILTER.exec(key) ?? []
    return filter !== 'lfs' || (LFS_FILTER[part]?.test(value) ?? false)
  })
}

function withoutFilter(name: string): (readonly [string, string])[] {
  const nothing = ['clean', 'smudge', 'process'].map((part) => [`filter.${name}.${part}`, ''] as const)
  return [...nothing, [`filter.${name}.required`, 'false']]
}

/** An empty driver would silently take our side; this is what git does without a driver. */
function withoutDriver(key: string): (readonly [string, string])[] {
  return MERGE_DRIVER.test(key) ? [[key, 'git merge-file %A %O %B']] : []
}

function remotesOf(entries: readonly Entry[]): string[] {
  const names = entries.flatMap(({ key }) => /^remote\.(.*)\.url$/s.exec(key)?.[1] ?? [])
  return [...new Set(names)].sort()
}
