import { asCorralError, CorralError } from '../core/error.ts'
import type { Git, GitOutput, GitRequest } from './git.ts'
import { readConfig, type RepoConfig } from './untrusted.ts'

/** `config` comes beside what guards. */
type GuardedOptions = Omit<GitRequest, 'cwd' | 'args'>

/** git in one checkout, with the commands taken out of what the repository configures. */
export interface GuardedGit {
  readonly config: RepoConfig
  run(args: readonly string[], options?: GuardedOptions): Promise<GitOutput>
  /** What it prints, without the line feed at the end. */
  text(args: readonly string[], options?: GuardedOptions): Promise<string>
  /** The object that a name stands for, if it stands for one. */
  resolve(name: string): Promise<string | null>
}

/** The configuration is read for each operation: it may change between two of them, and costs 2 ms. */
export async function guard(git: Git, cwd: string): Promise<GuardedGit> {
  const listing = await git.run({ cwd, args: ['config', '--list', '--show-scope', '-z'] })
  const config = readConfig(listing.stdout.toString())
  const run: GuardedGit['run'] = (args, options) =>
    git.run({ cwd, args, ...options, config: [...(options?.config ?? []), ...config.overrides] })
  const text: GuardedGit['text'] = async (args, options) =>
    (await run(args, options)).stdout.toString().replace(/\n$/, '')
  return {
    config,
    run,
    text,
    async resolve(name) {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', name]
      return (await text(args, { answers: [0, 1] })) || null
    },
  }
}

/** Refuses files whose filter we have switched off: an encrypted file, say, would be committed in clear. */
export async function refuseFiltered(
  git: GuardedGit,
  paths: readonly string[],
  flags: readonly string[] = [],
): Promise<void> {
  const { disabledFilters } = git.config
  if (disabledFilters.size === 0 || paths.length === 0) return
  const input = paths.map((path) => `${path}\0`).join('')
  const { stdout } = await git.run(['check-attr', ...flags, '-z', '--stdin', 'filter'], { input })
  const fields = stdout.toString().split('\0')
  for (let n = 0; n + 2 < fields.length; n += 3) {
    const [path, filter = ''] = [fields[n], fields[n + 2]]
    if (!disabledFilters.has(filter)) continue
    const text = `${path} needs the filter ${filter}, which this repository configures for itself`
    throw new CorralError('unsupported', text, { path, filter })
  }
}

export async function exitCodeOf(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => 0,
    (thrown: unknown) => asCorralError(thrown).data['exitCode'] ?? null,
  )
}
