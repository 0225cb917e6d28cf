import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'

const LEVELS = ['info', 'warn', 'error', 'silent'] as const
/** How often it is looked whether somebody has moved the file away. */
const LOOK_MS = 1000

type Write = (data: object, message: string) => void

export interface Logger {
  info: Write
  warn: Write
  error: Write
  close(): void
}

export interface LoggerOptions {
  level: (typeof LEVELS)[number]
  /** A file that is larger than this is put aside, as `.1`. */
  maxBytes: number
  /** How many older ones are kept: `.1` is the newest of them. */
  keep: number
}

/** The daemon's own log: JSON lines in a file, a few older files beside it. Prompts, answers and tokens never get here. */
export function openLogger(path: string, { level, maxBytes, keep }: LoggerOptions): Logger {
  let file = openFile(path)
  let lookedAt = 0

  function reopen(): void {
    const next = openFile(path)
    closeSync(file.fd)
    file = next
  }

  /** Also one that a program for that has moved away is left to it. */
  function isMovedAway(): boolean {
    const now = performance.now()
    if (now - lookedAt < LOOK_MS) return false
    lookedAt = now
    return statSync(path, { throwIfNoEntry: false })?.ino !== file.ino
  }

  function write(line: string): void {
    if (isMovedAway()) reopen()
    if (file.size >= maxBytes) {
      rotate(path, keep)
      reopen()
    }
    file.size += writeSync(file.fd, line)
  }

  function at(name: (typeof LEVELS)[number]): Write {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return () => undefined
    return (data, message) => {
      const line = `${JSON.stringify({ time: new Date().toISOString(), level: name, message, ...data }, readable)}\n`
      try {
        write(line)
      } catch {
        // A full disk must not take the daemon down with it.
      }
    }
  }

  return { info: at('info'), warn: at('warn'), error: at('error'), close: () => closeSync(file.fd) }
}

function openFile(path: string): { fd: number; ino: number; size: number } {
  const fd = openSync(path, 'a', 0o600)
  const { ino, size } = fstatSync(fd)
  return { fd, ino, size }
}

/** Every older file gets the next number; the last one goes. */
function rotate(path: string, keep: number): void {
  const names = [path, ...Array.from({ length: keep }, (_, index) => `${path}.${index + 1}`)]
  rmSync(names.at(-1)!, { force: true })
  for (const [index, name] of [...names.entries()].toReversed()) {
    const next = names[index + 1]
    if (next !== undefined && statSync(name, { throwIfNoEntry: false })) renameSync(name, next)
  }
}

/** Errors have nothing that JSON would show. */
function readable(_: string, value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value
}
