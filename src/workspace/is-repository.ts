import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Whether a git repository is right there: a checkout, a worktree of one, or a bare one. No git is run for it. */
export async function isRepository(path: string): Promise<boolean> {
  return (
    (await isGitDirectory(join(path, '.git'))) ||
    (await linkIn(join(path, '.git'))) !== null ||
    isGitDirectory(path)
  )
}

async function isGitDirectory(path: string): Promise<boolean> {
  const [head, objects] = await Promise.all([look(join(path, 'HEAD')), look(join(path, 'objects'))])
  return head?.isFile() === true && objects?.isDirectory() === true
}

/** Worktrees and submodules have a file that says where the rest is; null when it is none. Waits for nobody's FIFO. */
export async function linkIn(file: string): Promise<string | null> {
  const found = await look(file)
  if (!found?.isFile() || found.size > 10_000) return null
  const text = await readFile(file, 'utf8').catch(() => '')
  return /^gitdir: (.+)/.exec(text)?.[1] ?? null
}

function look(path: string) {
  return stat(path).catch(() => null)
}
