import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGit } from './git.ts'

const README = `# A first look

The demo agent works for this repository. It has no model: what it does is written down beforehand, but the files that it
writes are real, and so is the test that it runs. You can remove this directory at any time.
`

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Corral',
  GIT_AUTHOR_EMAIL: 'corral@localhost',
  GIT_COMMITTER_NAME: 'Corral',
  GIT_COMMITTER_EMAIL: 'corral@localhost',
}

/** A fresh directory below `folder` with a repository of one commit. Where there is no git, there is only the directory. */
export async function makeTourDirectory(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ path: string; isRepository: boolean }> {
  const cwd = join(folder, `first-look-${randomBytes(3).toString('hex')}`)
  await mkdir(cwd, { recursive: true, mode: 0o700 })
  await writeFile(join(cwd, 'README.md'), README, { flag: 'wx' })
  const git = createGit(env)
  try {
    await git.run({ cwd, args: ['init', '--quiet', '--initial-branch=main'] })
    await git.run({ cwd, args: ['add', '--', 'README.md'] })
    await git.run({ cwd, args: ['commit', '--quiet', '--message=A first look'], env: AUTHOR })
    return { path: cwd, isRepository: true }
  } catch {
    // The tour needs no git; only what has changed cannot be shown, nor merged, without it.
    return { path: cwd, isRepository: false }
  }
}
