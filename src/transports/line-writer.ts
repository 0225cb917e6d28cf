import type { WriteBatch } from './writer.ts'

/** Below this a copy for each costs less than writing it on its own. */
const LARGE = 64 * 1024

/** A line that many connections are going to send: a large one is encoded now, and all of them hold the same bytes. */
export function forMany(line: string): string | Buffer {
  return line.length > LARGE ? Buffer.from(line) : line
}

/** Lines, each with its LF. */
export function lineBatch(): WriteBatch<string | Buffer> {
  let gathered = ''
  /** Goes out before `gathered`: there is something only where a Buffer came. */
  let ahead: (string | Buffer)[] = []
  let size = 0
  return {
    get size() {
      return size
    },
    add(line) {
      size += line.length + 1
      if (typeof line === 'string') {
        gathered += `${line}\n`
        return
      }
      if (gathered !== '') ahead.push(gathered)
      ahead.push(line)
      gathered = '\n'
    },
    take() {
      const pieces = [...ahead, gathered]
      ahead = []
      gathered = ''
      size = 0
      return pieces
    },
  }
}
