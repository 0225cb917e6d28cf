import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import type { HostDeps } from './deps.ts'

/**
 * Touches the file that tells agents that their daemon lives, until the timer that it returns is cleared. One that was deleted is
 * made again: agents end themselves without it.
 */
export function startHeartbeat({
  options: { aliveFile, orphanMs },
  warn,
}: Pick<HostDeps, 'options' | 'warn'>): NodeJS.Timeout {
  writeFileSync(aliveFile, '')
  const beat = (): void => {
    try {
      if (existsSync(aliveFile)) utimesSync(aliveFile, new Date(), new Date())
      else writeFileSync(aliveFile, '', { mode: 0o600 })
    } catch (error) {
      warn('telling agents that their daemon lives', error)
    }
  }
  return setInterval(beat, Math.min(30_000, Math.max(250, orphanMs / 8))).unref()
}
