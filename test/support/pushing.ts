import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A repository with a commit that can be pushed, and the place where it would arrive. */
export interface Pushing {
  work: string
  /** What has arrived so far. */
  arrived(): string[]
  /** As if nothing had. */
  takeBack(): void
}

export function makePushing(directory: string): Pushing {
  const [work, remote] = [join(directory, 'work'), join(directory, 'remote')]
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  mkdirSync(work, { recursive: true })
  git(directory, 'init', '-q', '--bare', remote)
  git(work, 'init', '-q', '-b', 'main')
  git(work, 'remote', 'add', 'origin', remote)
  git(work, 'config', 'push.default', 'current')
  writeFileSync(join(work, 'a.txt'), 'a\n')
  git(work, 'add', '.')
  git(work, 'commit', '-q', '-m', 'first')
  const arrived = (): string[] =>
    git(remote, 'for-each-ref', '--format=%(refname)').split('\n').filter(Boolean)
  return {
    work,
    arrived,
    takeBack: () => arrived().forEach((ref) => git(remote, 'update-ref', '-d', ref)),
  }
}

export function removePushing({ work }: Pushing): void {
  rmSync(join(work, '..'), { recursive: true, force: true })
}
