import { crc32, deflateSync, inflateSync } from 'node:zlib'

/*
 * Pictures of pages have few colours, and are much smaller with a palette than as a browser takes them.
 */

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const COLOURS = 256

interface Picture {
  width: number
  height: number
  /** Red, green and blue of each pixel. */
  pixels: Buffer
}

/** The same picture with a palette of 256 colours. */
export function smaller(png: Buffer): Buffer {
  const picture = read(png)
  const { palette, indices } = quantised(picture)
  return write(picture, palette, indices)
}

/** Two pictures of a page that differ in some words only: the time, or the name of a directory. */
export function areAlike(one: Buffer, other: Buffer): boolean {
  const [a, b] = [read(one), read(other)]
  if (a.width !== b.width || a.height !== b.height) return false
  let different = 0
  for (let at = 0; at < a.pixels.length; at += 3) {
    const far = [0, 1, 2].some((by) => Math.abs(a.pixels[at + by]! - b.pixels[at + by]!) > 40)
    if (far) different++
  }
  return different * 3 < a.pixels.length * 0.01
}

/** As browsers and `smaller` write them: 8 bits, with or without opacity or with a palette, not interlaced. */
function read(png: Buffer): Picture {
  const parts = partsOf(png)
  const head = parts.find(({ name }) => name === 'IHDR')!.data
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const channels = { 2: 3, 3: 1, 6: 4 }[head[9]!]
  if (head[8] !== 8 || channels === undefined || head[12] !== 0) throw new Error('not a PNG of a browser')
  const data = parts.filter(({ name }) => name === 'IDAT').map((part) => part.data)
  const raw = unfiltered(inflateSync(Buffer.concat(data)), width * channels, height, channels)
  const pixels = Buffer.alloc(width * height * 3)
  const colours = channels === 1 ? parts.find(({ name }) => name === 'PLTE')!.data : raw
  for (let at = 0; at < width * height; at++) {
    const from = channels === 1 ? raw[at]! * 3 : at * channels
    colours.copy(pixels, at * 3, from, from + 3)
  }
  return { width, height, pixels }
}

function partsOf(png: Buffer): { name: string; data: Buffer }[] {
  const parts = []
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    parts.push({ name: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return parts
}

/** Each byte of a line is told by how it differs from those before and above it. */
function unfiltered(data: Buffer, stride: number, height: number, channels: number): Buffer {
  const out = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)]!
    for (let x = 0; x < stride; x++) {
      const left = x < channels ? 0 : out[y * stride + x - channels]!
      const above = y === 0 ? 0 : out[(y - 1) * stride + x]!
      const corner = x < channels || y === 0 ? 0 : out[(y - 1) * stride + x - channels]!
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter]!
      out[y * stride + x] = data[y * (stride + 1) + 1 + x]! + guess
    }
  }
  return out
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(guess - value)) as [number, number, number]
  return a <= b && a <= c ? left : b <= c ? above : corner
}

interface Box {
  colours: [colour: number, count: number][]
  count: number
}

/** Colours are put into boxes, and the box with the most pixels and the widest range is cut in two, until there are enough. */
function quantised({ pixels }: Picture): { palette: Buffer; indices: Buffer } {
  const counts = new Map<number, number>()
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const boxes: Box[] = [boxOf([...counts])]
  while (boxes.length < COLOURS) {
    const [widest] = boxes
      .filter(({ colours }) => colours.length > 1)
      .toSorted((a, b) => weight(b) - weight(a))
    if (!widest) break
    boxes.splice(boxes.indexOf(widest), 1, ...halves(widest))
  }
  const index = new Map<number, number>()
  const palette = Buffer.alloc(boxes.length * 3)
  for (const [at, box] of boxes.entries()) {
    palette.writeUIntBE(average(box), at * 3, 3)
    for (const [colour] of box.colours) index.set(colour, at)
  }
  const indices = Buffer.alloc(pixels.length / 3)
  for (let at = 0; at < indices.length; at++) indices[at] = index.get(pixels.readUIntBE(at * 3, 3))!
  return { palette, indices }
}

function boxOf(colours: [number, number][]): Box {
  return { colours, count: colours.reduce((sum, [, count]) => sum + count, 0) }
}

const channel = (colour: number, at: number): number => (colour >> (16 - 8 * at)) & 255

function rangeOf({ colours }: Box, at: number): number {
  let [low, high] = [255, 0]
  for (const [colour] of colours) {
    low = Math.min(low, channel(colour, at))
    high = Math.max(high, channel(colour, at))
  }
  return high - low
}

function weight(box: Box): number {
  return Math.sqrt(box.count) * Math.max(rangeOf(box, 0), rangeOf(box, 1), rangeOf(box, 2))
}

function halves(box: Box): [Box, Box] {
  const [widest] = [0, 1, 2].toSorted((a, b) => rangeOf(box, b) - rangeOf(box, a)) as [number]
  const sorted = box.colours.toSorted(([a], [b]) => channel(a, widest) - channel(b, widest))
  let [count, at] = [0, 0]
  while (at < sorted.length - 1 && count + sorted[at]![1] <= box.count / 2) count += sorted[at++]![1]
  const cut = Math.max(1, at)
  return [boxOf(sorted.slice(0, cut)), boxOf(sorted.slice(cut))]
}

function average({ colours, count }: Box): number {
  const mean = (at: number): number =>
    Math.round(colours.reduce((sum, [colour, times]) => sum + channel(colour, at) * times, 0) / count)
  return (mean(0) << 16) | (mean(1) << 8) | mean(2)
}

function write({ width, height }: Picture, palette: Buffer, indices: Buffer): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const lines = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) indices.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width)
  const data = deflateSync(lines, { level: 9, memLevel: 9 })
  const parts = [part('IHDR', head), part('PLTE', palette), part('IDAT', data), part('IEND', Buffer.alloc(0))]
  return Buffer.concat([SIGNATURE, ...parts])
}

function part(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
