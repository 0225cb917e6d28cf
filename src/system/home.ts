import { chmodSync, closeSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { CorralError } from '../core/error.ts'

/** A place that is not there is where it says. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The data directory, for its owner only. */
export function makeHome(home: string): void {
  try {
    const made = mkdirSync(home, { recursive: true, mode: 0o700 })
    if (made !== undefined) chmodSync(home, 0o700)
    mkdirSync(join(home, 'runs'), { recursive: true, mode: 0o700 })
    // SQLite gives its side files the rights of the main one: whatever the directory's are, these are for their owner.
    for (const name of ['corral.db', 'lock', 'alive']) closeSync(openSync(join(home, name), 'a', 0o600))
  } catch (error) {
    const reason = (error as Error).message
    throw new CorralError(
      'storage',
      `The data directory ${home} cannot be used: ${reason}`,
      { path: home },
      error,
    )
  }
}
