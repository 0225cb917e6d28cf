import type { WriteBatch } from './writer.ts'

const TEXT = 0x81
const PONG = 0x8a
/** What is larger is not copied into one piece with its neighbours. */
const LARGE = 64 * 1024

/** A whole text message as a server sends it: one frame, not masked, not compressed. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(head + length)
  frame[0] = TEXT
  if (head === 2) frame[1] = length
  else if (head === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.write(text, head)
  return frame
}

/** The answer to a ping; its payload is never longer than 125 bytes. */
export function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.of(PONG, payload.length), payload])
}

/** Frames, joined into one piece. */
export function frameBatch(): WriteBatch<Buffer> {
  let frames: Buffer[] = []
  let size = 0
  return {
    get size() {
      return size
    },
    add(frame) {
      frames.push(frame)
      size += frame.length
    },
    take() {
      const taken = frames
      frames = []
      size = 0
      return joined(taken)
    },
  }
}

/** What many connections are sent in one tick is nearly always the same frames: they are joined once for all of them. */
let latest: { frames: readonly Buffer[]; piece: Buffer } | null = null

function joined(frames: Buffer[]): Buffer[] {
  if (frames.length < 2 || frames.some((frame) => frame.length > LARGE)) return frames
  if (latest !== null && isSame(latest.frames, frames)) return [latest.piece]
  if (latest === null) setImmediate(() => (latest = null))
  latest = { frames, piece: Buffer.concat(frames) }
  return [latest.piece]
}

function isSame(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  return some.length === others.length && some.every((frame, index) => frame === others[index])
}
