import type { Event } from '../../core/event.ts'

/*
 * What goes over NATS. A message has a limit, so whatever is larger goes in pieces: a line of JSON that says which piece it is, and bytes.
 * Subjects name machines, logs and sessions; everything else is in here.
 */

/** One piece of something that all of its pieces call by the same id. */
export interface Piece<Head> {
  id: string
  part: number
  parts: number
  head: Head
  body: Buffer
}

const NEWLINE = 10
const MAX_PARTS = 4096

export function encode<Head>({ body, ...label }: Piece<Head>): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(label)}\n`), body])
}

/** Null: it is not one of ours. */
export function decode<Head>(data: Uint8Array): Piece<Head> | null {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const end = bytes.indexOf(NEWLINE)
  try {
    const label = JSON.parse(bytes.toString('utf8', 0, end)) as Omit<Piece<Head>, 'body'>
    const { id, part, parts } = label
    const isOurs = typeof id === 'string' && part >= 0 && part < parts && parts <= MAX_PARTS
    return isOurs ? { ...label, body: bytes.subarray(end + 1) } : null
  } catch {
    return null
  }
}

/** A text in as many bodies as it needs. */
export function cut(text: string, limit: number): Buffer[] {
  const bytes = Buffer.from(text)
  const count = Math.max(1, Math.ceil(bytes.length / limit))
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * limit, (index + 1) * limit))
}

/** So many incomplete ones are kept; whoever published them has gone, or publishes them again. */
const MAX_OPEN = 256

/** Pieces, until all of one id are there. */
export class Gathering<Head> {
  readonly #open = new Map<string, Map<number, Piece<Head>>>()

  /** In their order, when this was the last that was missing. */
  take(piece: Piece<Head>): Piece<Head>[] | null {
    const { id, part, parts } = piece
    const known = this.#open.get(id) ?? new Map<number, Piece<Head>>()
    known.set(part, piece)
    this.#open.set(id, known)
    if (known.size < parts) {
      if (this.#open.size > MAX_OPEN) this.#open.delete(this.#open.keys().next().value!)
      return null
    }
    this.#open.delete(id)
    return [...known.values()].sort((a, b) => a.part - b.part)
  }
}

/** What a machine's log has grown by: all that is its own in it after a number, and up to another one. */
export interface Tick {
  after: number
  to: number
  events: Event[]
}

export type TickHead = Pick<Tick, 'after' | 'to'> & { session: string }

/** A tick as messages: each has events of one session, or a piece of them. */
export function tickPieces(id: string, { after, to, events }: Tick, limit: number): Piece<TickHead>[] {
  const bodies = [...Map.groupBy(events, (event) => event.sessionId)].flatMap(([session, own]) =>
    cut(JSON.stringify(own), limit).map((body) => ({ session, body })),
  )
  return bodies.map(({ session, body }, part) => ({
    id,
    part,
    parts: bodies.length,
    head: { after, to, session },
    body,
  }))
}

/** The opposite, from all of its pieces in order. */
export function tickFrom(pieces: readonly Piece<TickHead>[]): Tick {
  const { after, to } = pieces[0]!.head
  const texts = [...Map.groupBy(pieces, ({ head }) => head.session).values()].map((own) => textOf(own))
  const events = texts.flatMap((text) => JSON.parse(text) as Event[]).sort((a, b) => a.seq - b.seq)
  return { after, to, events }
}

export function textOf(pieces: readonly Piece<unknown>[]): string {
  return Buffer.concat(pieces.map(({ body }) => body)).toString()
}
