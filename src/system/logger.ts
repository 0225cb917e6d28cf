import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

const LEVELS = ['info', 'warn', 'error', 'silent'] as const
const ROTATE_ABOVE = 10 * 1024 * 1024

type Write = (data: object, message: string) => void

export interface Logger {
  info: Write
  warn: Write
  error: Write
  close(): void
}

/** The daemon's own log: JSON lines in a file, one older file kept. Prompts, answers and tokens never get here. */
export function openLogger(path: string, level: (typeof LEVELS)[number]): Logger {
  const open = (): number => openSync(path, 'a', 0o600)
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let fd = open()

  function rotate(): void {
    renameSync(path, `${path}.1`)
    const next = open()
    closeSync(fd)
    fd = next
    size = 0
  }

  function at(name: (typeof LEVELS)[number]): Write {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return () => undefined
    return (data, message) => {
      const line = `${JSON.stringify({ time: new Date().toISOString(), level: name, message, ...data }, readable)}\n`
      try {
        if (size > ROTATE_ABOVE) rotate()
        size += writeSync(fd, line)
      } catch {
        // A full disk must not take the daemon down with it.
      }
    }
  }

  return { info: at('info'), warn: at('warn'), error: at('error'), close: () => closeSync(fd) }
}

/** Errors have nothing that JSON would show. */
function readable(_: string, value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value
}
