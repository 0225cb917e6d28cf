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

/** What an agent writes to stdout, read as whole lines. */
export class Journal {
  readonly #fd: number
  readonly #maxLine: number
  readonly #buffer = Buffer.allocUnsafe(CHUNK)
  #lineStart: number
  #position: number
  /** The line whose end is not there yet. */
  #parts: Buffer[] = []
  #partial = 0
  #skipping = false

  constructor(path: string, offset: number, maxLine: number) {
    this.#fd = openSync(path, 'r+')
    this.#maxLine = maxLine
    this.#lineStart = this.#position = offset
  }

  /** The byte after the last whole line that was read. */
  get offset(): number {
    return this.#lineStart
  }

  /** The next whole lines, null when there are none yet. Splits on LF bytes only. */
  read(): JournalPage | null {
    const lines: Line[] = []
    while (lines.length === 0) {
      const length = readSync(this.#fd, this.#buffer, 0, CHUNK, this.#position)
      if (length === 0) return null
      let start = 0
      for (let lf = this.#buffer.indexOf(LF); lf >= 0 && lf < length; lf = this.#buffer.indexOf(LF, start)) {
        lines.push({ text: this.#take(this.#buffer.subarray(start, lf)), end: this.#position + lf + 1 })
        start = lf + 1
      }
      if (start < length) this.#keep(this.#buffer.subarray(start, length))
      this.#position += length
    }
    this.#lineStart = lines.at(-1)!.end
    return { lines, offset: this.#lineStart }
  }

  size(): number {
    return fstatSync(this.#fd).size
  }

  seek(offset: number): void {
    this.#lineStart = this.#position = offset
    this.#forget()
  }

  /** Empties the file; only while its agent is idle and all of it has been read. */
  truncate(): void {
    ftruncateSync(this.#fd, 0)
    this.seek(0)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #keep(piece: Buffer): void {
    this.#partial += piece.length
    if (this.#partial > this.#maxLine) {
      this.#skipping = true
      this.#parts = []
    } else if (!this.#skipping) this.#parts.push(Buffer.from(piece))
  }

  #take(piece: Buffer): string | null {
    if (this.#parts.length === 0 && !this.#skipping) return piece.toString('utf8')
    this.#keep(piece)
    const text = this.#skipping ? null : Buffer.concat(this.#parts, this.#partial).toString('utf8')
    this.#forget()
    return text
  }

  #forget(): void {
    this.#parts = []
    this.#partial = 0
    this.#skipping = false
  }
}

/** Its journal cannot be emptied while somebody is in a turn, and everybody has to read all of it. */
const WORN_BYTES = 64 * 1024 * 1024

/** So much has been said in a process that the next session, or turn, had better begin in another. */
export function isWorn(journal: string): boolean {
  return (statSync(journal, { throwIfNoEntry: false })?.size ?? 0) > WORN_BYTES
}
