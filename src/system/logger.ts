import { renameSync, statSync } from 'node:fs'
import { destination, pino, type Logger } from 'pino'

const ROTATE_ABOVE = 10 * 1024 * 1024

export type { Logger }

/** The daemon's own log: JSON lines in a file, one older file kept. Prompts, answers and tokens never get here. */
export function openLogger(path: string, level: string): Logger {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > ROTATE_ABOVE) renameSync(path, `${path}.1`)
  const file = destination({ dest: path, sync: true, mode: 0o600, append: true })
  // A full disk must not take the daemon down with it.
  file.on('error', () => undefined)
  return pino({ level, base: { pid: process.pid } }, file)
}
