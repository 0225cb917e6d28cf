import { closeSync, fstatSync, openSync, readFileSync, readSync, statfsSync } from 'node:fs'

const STDERR_TAIL = 4096
/** With less room than this, what an agent says does not fit. */
const FULL_BYTES = 64 * 1024

/** A shell reports death by signal n as 128 + n. */
const SIGNALS: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
}

/** How a process ended, from the file that its wrapper wrote. Without one the wrapper was killed too. */
export function readExit(path: string): { code: number | null; signal: string | null } {
  try {
    const code = Number.parseInt(readFileSync(path, 'utf8'), 10)
    return Number.isNaN(code) ? { code: null, signal: null } : { code, signal: SIGNALS[code - 128] ?? null }
  } catch {
    return { code: null, signal: 'SIGKILL' }
  }
}

/** Nothing can be written where it writes what it says. */
export function isDiskFull(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir)
    return bavail * bsize < FULL_BYTES
  } catch {
    return false
  }
}

/** The end of what it wrote to stderr. */
export function tail(path: string): string {
  try {
    const fd = openSync(path, 'r')
    try {
      const { size } = fstatSync(fd)
      const buffer = Buffer.alloc(Math.min(size, STDERR_TAIL))
      readSync(fd, buffer, 0, buffer.length, size - buffer.length)
      return buffer.toString('utf8')
    } finally {
      closeSync(fd)
    }
  } catch {
    return ''
  }
}
