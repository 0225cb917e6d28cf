/** The end of an output, of at most so many bytes. */
export interface Tail {
  readonly truncated: boolean
  push(bytes: Buffer): void
  /** Cut between characters. */
  text(): string
}

const FIRST_BYTES = 4096

/** A ring: every byte is copied once, however much there is. */
export function createTail(limit: number): Tail {
  let ring = Buffer.allocUnsafe(Math.min(limit, FIRST_BYTES))
  let total = 0

  /** Before it is as large as it may be, it has not come round yet. */
  function grow(wanted: number): void {
    if (wanted <= ring.length || ring.length === limit) return
    const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(wanted, ring.length * 2)))
    ring.copy(larger, 0, 0, total)
    ring = larger
  }

  return {
    get truncated() {
      return total > limit
    },
    push(bytes) {
      grow(total + bytes.length)
      const kept = limit === 0 ? bytes.subarray(bytes.length) : bytes.subarray(-limit)
      total += bytes.length
      if (kept.length === 0) return
      const from = (total - kept.length) % ring.length
      const room = ring.length - from
      kept.copy(ring, from, 0, room)
      if (kept.length > room) kept.copy(ring, 0, room)
    },
    text() {
      if (limit === 0) return ''
      if (total <= ring.length) return ring.toString('utf8', 0, total)
      const start = total % ring.length
      const all = Buffer.concat([ring.subarray(start), ring.subarray(0, start)])
      let from = 0
      while (from < all.length && (all[from]! & 0xc0) === 0x80) from++
      return all.toString('utf8', from)
    },
  }
}
