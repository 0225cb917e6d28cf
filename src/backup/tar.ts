/* The tar format (POSIX ustar), as far as a backup needs it: regular files with short names. Pure, but for the stream that is read. */

const BLOCK = 512

export interface Entry {
  name: string
  size: number
}

/** What stands before the bytes of a file. */
export function headerOf({ name, size }: Entry, at: Date): Buffer {
  if (Buffer.byteLength(name) > 99) throw new Error(`too long a name for a backup: ${name}`)
  if (size > 0o77777777777) throw new Error(`too large for a backup: ${name} has ${size} bytes`)
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`
  header.write(name, 0)
  header.write(octal(0o600, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(Math.floor(at.getTime() / 1000), 12), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** What stands behind them. */
export function paddingOf(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
}

export const END = Buffer.alloc(2 * BLOCK)

/** Null at the end of the archive. Throws for anything that is no regular file. */
export function readHeader(header: Buffer): Entry | null {
  if (header.every((byte) => byte === 0)) return null
  const text = (from: number, to: number): string =>
    header.toString('utf8', from, to).replace(/[\0 ].*$/s, '')
  const given = Number.parseInt(text(148, 156), 8)
  const blank = Buffer.from(header)
  blank.fill(' ', 148, 156)
  if (given !== sumOf(blank)) throw new Error('this is no backup of Corral, or it is damaged')
  const kind = header.toString('latin1', 156, 157)
  if (kind !== '0') throw new Error('a backup has regular files only')
  return { name: header.toString('utf8', 0, header.indexOf(0)), size: Number.parseInt(text(124, 136), 8) }
}

function sumOf(header: Buffer): number {
  return header.reduce((sum, byte) => sum + byte, 0)
}

/** Hands out exactly as many bytes as are asked for, from pieces of any size. */
export function createTaker(pieces: AsyncIterable<Buffer>) {
  const source = pieces[Symbol.asyncIterator]()
  let left: Buffer = Buffer.alloc(0)

  async function* upTo(count: number): AsyncGenerator<Buffer> {
    for (let wanted = count; wanted > 0;) {
      if (left.length === 0) {
        const next = await source.next()
        if (next.done) throw new Error('the backup ends too early: it is damaged')
        left = next.value
      }
      const piece = left.subarray(0, wanted)
      left = left.subarray(piece.length)
      wanted -= piece.length
      yield piece
    }
  }

  return {
    upTo,
    async all(count: number): Promise<Buffer> {
      const found: Buffer[] = []
      for await (const piece of upTo(count)) found.push(piece)
      return Buffer.concat(found)
    },
  }
}

export const HEADER_BYTES = BLOCK
