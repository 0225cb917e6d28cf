import { crc32, deflateSync } from 'node:zlib'

/*
 * The mark as a PNG, for those who take no SVG: iOS, and the list of installed applications. Drawn from the same numbers as
 * web/icons/mark.svg, on a field of 64 by 64; without round corners, since whoever shows it cuts its own.
 */

const FIELD = 64
const GROUND = [0x0b, 0x6a, 0x5c] as const
const RAILS = [
  [18, 15, 18, 49],
  [32, 15, 32, 49],
  [46, 15, 46, 49],
  [11, 26, 53, 26],
  [11, 39, 53, 39],
] as const
const HALF_STROKE = 2.5
/** Systems may cut a circle out of it: all of the drawing is in the middle. */
const SHRINK = 0.82

export function markPng(size: number): Buffer {
  const rows = Array.from({ length: size }, (_, y) => {
    const row = Buffer.alloc(1 + size * 3)
    for (let x = 0; x < size; x++) row.set(colourAt(x, y, size), 1 + x * 3)
    return row
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const data = deflateSync(Buffer.concat(rows), { level: 9 })
  return Buffer.concat([signature, part('IHDR', header), part('IDAT', data), part('IEND', Buffer.alloc(0))])
}

/** White where a rail is, with soft edges. */
function colourAt(x: number, y: number, size: number): number[] {
  const scale = FIELD / size / SHRINK
  const [px, py] = [x, y].map((at) => (at + 0.5 - size / 2) * scale + FIELD / 2) as [number, number]
  const distance = Math.min(...RAILS.map((rail) => distanceTo(px, py, rail)))
  const cover = Math.min(1, Math.max(0, (HALF_STROKE - distance) / scale + 0.5))
  return GROUND.map((shade) => Math.round(shade + (255 - shade) * cover))
}

function distanceTo(
  x: number,
  y: number,
  [x1, y1, x2, y2]: readonly [number, number, number, number],
): number {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2
  const along = Math.min(1, Math.max(0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length))
  return Math.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1))
}

function part(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
