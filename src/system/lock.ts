import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { CorralError } from '../core/error.ts'

/** SQLITE_BUSY. */
const BUSY = 5

export interface Lock {
  release(): void
}

/**
 * One daemon per data directory. The lock is an exclusive transaction on an empty database file: the system itself drops it
 * when its holder dies, whatever the manner, and two daemons that start together cannot both have it.
 */
export function takeLock(path: string, runFile: string): Lock {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    const busy = (error as { errcode?: number }).errcode === BUSY
    const message = busy
      ? `${holder(runFile)} already uses this data directory`
      : `cannot be locked: ${String(error)}`
    throw new CorralError('storage', `${path}: ${message}`, { path }, error)
  }
  return { release: () => db.close() }
}

/** Somebody else has the lock. */
export function isHeld(error: unknown): boolean {
  return error instanceof CorralError && (error.cause as { errcode?: number } | undefined)?.errcode === BUSY
}

function holder(runFile: string): string {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(runFile, 'utf8')) as { pid: number; startedAt: string }
    return `A Corral daemon (pid ${pid}, started ${startedAt})`
  } catch {
    return 'Another Corral daemon'
  }
}
