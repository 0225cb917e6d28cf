import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Whether a git repository is right there: a checkout, a worktree of one, or a bare one. No git is run for it. */
export async function isRepository(path: string): Promise<boolean> {
  return (
    (await isGitDirectory(join(path, '.git'))) || (await isLink(join(path, '.git'))) || isGitDirectory(path)
  )
}

async function isGitDirectory(path: string): Promise<boolean> {
  const [head, objects] = await Promise.all([look(join(path, 'HEAD')), look(join(path, 'objects'))])
  return head?.isFile() === true && objects?.isDirectory() === true
}

/** Worktrees and submodules have a file that says where the rest is. */
async function isLink(path: string): Promise<boolean> {
  const found = await look(path)
  if (!found?.isFile() || found.size > 10_000) return false
  return (await readFile(path, 'utf8').catch(() => '')).startsWith('gitdir: ')
}

function look(path: string) {
  return stat(path).catch(() => null)
}
