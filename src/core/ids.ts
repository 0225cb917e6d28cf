import { createHash, randomFillSync } from 'node:crypto'

const bytes = Buffer.alloc(16)
let lastMs = 0
let counter = 0

/** UUID v7 (RFC 9562): sorts by time of making, also within one millisecond of one process. */
export function uuid(now: number = Date.now()): string {
  randomFillSync(bytes)
  if (now > lastMs) {
    lastMs = now
    counter = bytes.readUInt16BE(6) & 0x7ff
  } else if (++counter > 0xfff) {
    lastMs++
    counter = 0
  }
  bytes.writeUIntBE(lastMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | counter, 6)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  return spelled(bytes)
}

/** Always the same for the same words: UUID v8, whose bits are a hash of them. */
export function uuidOf(...words: string[]): string {
  const hash = createHash('sha256').update(words.join('\0')).digest().subarray(0, 16)
  hash[6] = 0x80 | (hash[6]! & 0x0f)
  hash[8] = 0x80 | (hash[8]! & 0x3f)
  return spelled(hash)
}

function spelled(id: Buffer): string {
  const hex = id.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
