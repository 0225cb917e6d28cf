import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cli } from './cli.ts'

/*
 * `-` is the session that was made, or named in a command, last: by this user, with this data directory. The commands that agents run
 * do not count.
 */

type Place = Pick<Cli, 'home' | 'env'>

const pathIn = (home: string): string => join(home, 'last-session')

export function lastSession({ home }: Place): string | null {
  try {
    return readFileSync(pathIn(home), 'utf8').trim() || null
  } catch {
    return null
  }
}

/** Nobody minds much where it cannot be written down. */
export function noteSession({ home, env }: Place, sessionId: string): void {
  if (env['CORRAL_SESSION_ID']) return
  const draft = `${pathIn(home)}.${process.pid}`
  try {
    writeFileSync(draft, `${sessionId}\n`, { mode: 0o600 })
    renameSync(draft, pathIn(home))
  } catch {
    // `-` means the one before
  }
}
