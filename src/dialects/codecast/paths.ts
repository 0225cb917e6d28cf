import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CorralError } from '../../core/error.ts'

/** `~` and `~/x` are in the home directory, absolute paths are themselves, bare names are in `~/Projects`. */
export function expandPath(path: string, home: string): string {
  if (path === '~') return home
  if (path.startsWith('~/')) return join(home, path.slice(2))
  if (path.startsWith('/')) return resolve(path)
  // `~user` is not supported: as it stands it exists nowhere, and the error shows it.
  if (path.startsWith('~')) return path
  return join(home, 'Projects', path)
}

/** The directory that a client means; throws `path_not_found`. */
export async function requireDirectory(path: string, home: string): Promise<string> {
  const expanded = expandPath(path, home)
  const found = path.startsWith('~') && expanded === path ? null : await stat(expanded).catch(() => null)
  if (found?.isDirectory()) return expanded
  const problem = found
    ? 'Path is not a directory on remote machine'
    : 'Path does not exist on remote machine'
  const data = { path, resolved: expanded }
  throw new CorralError('path_not_found', `${problem}: ${expanded} (resolved from: ${path})`, data)
}
