import { closeSync, ftruncateSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

const CHUNK = 64 * 1024
const LF = 10
/** Longer lines of agents are passed over. */
export const MAX_LINE = 64 * 1024 * 1024

/** A piece of an agent's output: whole lines, and the byte after the last of them. */
export interface JournalPage {
  lines: Line[]
  offset: number
}

export interface Line {
  /** null when the line was longer than the limit and was passed over. */
  text: string | null
  /** The byte after its LF. */
  end: number
}

export interface Journal {
  /** The byte after the last whole line that was read. */
  readonly offset: number
  /** The next whole lines, null when there are none yet. Splits on LF bytes only. */
  read(): JournalPage | null
  size(): number
  seek(offset: number): void
  /** Empties the file; only while its agent is idle and all of it has been read. */
  truncate(): void
  close(): void
}

export function openJournal(path: string, offset: number, maxLine: number): Journal {
  const fd = openSync(path, 'r+')
  const buffer = Buffer.allocUnsafe(CHUNK)
  let lineStart = offset
  let position = offset
  let parts: Buffer[] = []
  let partial = 0
  let skipping = false

  function reset(to: number): void {
    lineStart = position = to
    parts = []
    partial = 0
    skipping = false
  }

  function keep(piece: Buffer): void {
    partial += piece.length
    if (partial > maxLine) {
      skipping = true
      parts = []
    } else if (!skipping) parts.push(Buffer.from(piece))
  }

  function take(piece: Buffer): string | null {
    if (parts.length === 0 && !skipping) return piece.toString('utf8')
    keep(piece)
    const text = skipping ? null : Buffer.concat(parts, partial).toString('utf8')
    parts = []
    partial = 0
    skipping = false
    return text
  }

  return {
    get offset() {
      return lineStart
    },
    read() {
      const lines: Line[] = []
      while (lines.length === 0) {
        const length = readSync(fd, buffer, 0, CHUNK, position)
        if (length === 0) return null
        let start = 0
        for (let lf = buffer.indexOf(LF); lf >= 0 && lf < length; lf = buffer.indexOf(LF, start)) {
          lines.push({ text: take(buffer.subarray(start, lf)), end: position + lf + 1 })
          start = lf + 1
        }
        if (start < length) keep(buffer.subarray(start, length))
        position += length
      }
      lineStart = lines.at(-1)!.end
      return { lines, offset: lineStart }
    },
    size: () => fstatSync(fd).size,
    seek: reset,
    truncate() {
      ftruncateSync(fd, 0)
      reset(0)
    },
    close: () => closeSync(fd),
  }
}

/** Its journal cannot be emptied while somebody is in a turn, and everybody has to read all of it. */
const WORN_BYTES = 64 * 1024 * 1024

/** So much has been said in a process that the next session, or turn, had better begin in another. */
export function isWorn(journal: string): boolean {
  return (statSync(journal, { throwIfNoEntry: false })?.size ?? 0) > WORN_BYTES
}
