import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isRepository } from './is-repository.ts'

/** What is at a path, for somebody who looks for a directory to work in. */
export interface Place {
  /** Absolute, with `~` replaced. */
  readonly path: string
  readonly isDirectory: boolean
  /** It is in a git repository. */
  readonly inRepository: boolean
  /** Directories in it, without hidden ones, by name. */
  readonly directories: readonly string[]
  readonly truncated: boolean
}

const MAX_DIRECTORIES = 500

/** Reads names only. What cannot be read has nothing in it. */
export async function lookAt(typed: string, homedir: string): Promise<Place> {
  const path = resolve(homedir, typed.replace(/^~(?=\/|$)/, homedir))
  const isDirectory = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isDirectory) return { path, isDirectory, inRepository: false, directories: [], truncated: false }
  const entries = await readdir(path, { withFileTypes: true }).catch((): Dirent[] => [])
  const directories = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort((a, b) => a.localeCompare(b))
  return {
    path,
    isDirectory,
    inRepository: await isInRepository(path),
    directories: directories.slice(0, MAX_DIRECTORIES),
    truncated: directories.length > MAX_DIRECTORIES,
  }
}

async function isInRepository(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    if (await isRepository(at)) return true
    if (at === dirname(at)) return false
  }
}
