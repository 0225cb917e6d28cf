import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { CorralError } from '../core/error.ts'

/** A process that has the log, known by pid, start time and boot. */
export interface Holder {
  pid: number
  startTime: string | null
  bootId: string
}

/** Who opens the log, and how to find out whether another holder still runs. */
export interface Holding {
  self: Holder
  lives(holder: Holder): boolean
}

const KEY = 'holder'

/**
 * Refuses a log that another living process has. The lock file keeps two daemons apart as long as nobody deletes it; what is
 * written down here cannot go without the log itself. A copy of the log is another file, and nobody's.
 */
export function refuseIfHeld(db: DatabaseSync, path: string, { self, lives }: Holding): void {
  const hasMeta = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined
  const value = hasMeta && db.prepare('SELECT value FROM meta WHERE key = ?').get(KEY)?.['value']
  if (!value) return
  const { file, ...holder } = JSON.parse(value as string) as Holder & { file: string }
  const isOwn = holder.pid === self.pid && holder.startTime === self.startTime
  if (isOwn || file !== fileOf(path) || !lives(holder)) return
  const message = `A Corral daemon (pid ${holder.pid}) already uses this data directory`
  throw new CorralError('storage', `${path}: ${message}`, { path })
}

/** What is noted of whoever has the log, and of nobody. */
export const heldBy = (path: string, { self }: Holding): Record<string, string> => ({
  [KEY]: JSON.stringify({ ...self, file: fileOf(path) }),
})
export const HELD_BY_NOBODY: Record<string, string> = { [KEY]: '' }

function fileOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}
