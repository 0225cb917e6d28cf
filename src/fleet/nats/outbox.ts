import { setTimeout as sleep } from 'node:timers/promises'
import { uuid } from '../../core/ids.ts'
import type { MachineLink } from '../link.ts'
import type { Bus } from './bus.ts'
import { decode, encode, tickPieces, type Piece, type Tick, type TickHead } from './pieces.ts'
import { subjects } from './subjects.ts'

const FIRST_WAIT_MS = 100
const LAST_WAIT_MS = 5000

interface OutboxOptions {
  bus: Bus
  /** The daemon of this machine. */
  own: MachineLink
  me: string
  log: string
  head: number
}

/**
 * Brings what happens here into the stream. The log itself is the outbox, and what the stream has last says how far it was read: nothing
 * about it is kept here. Events of one tick are gathered while those of the one before are on their way.
 */
export class Outbox {
  readonly #options: OutboxOptions
  /** How far the log is in the stream. */
  published: number

  private constructor(options: OutboxOptions, published: number) {
    this.#options = options
    this.published = published
  }

  static async open(options: OutboxOptions): Promise<Outbox> {
    const { bus, me, log, head } = options
    const last = await bus.lastStored(subjects.log(me, log))
    return new Outbox(options, last ? reached(last.data, head) : head)
  }

  /** Until the connection is over. */
  run(): Promise<never> {
    const { own, log } = this.#options
    return own.follow({ log, seq: this.published }, async (events) => {
      const tick = { after: this.published, to: events.at(-1)!.seq, events }
      await this.#publish(tick)
      this.published = tick.to
    })
  }

  /** Each piece again and again until the stream has it; two of one id are one there. */
  async #publish(tick: Tick): Promise<void> {
    const { bus, me, log } = this.#options
    let left: Piece<TickHead>[] = tickPieces(uuid(), tick, bus.limit)
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LAST_WAIT_MS)) {
      const done = await Promise.allSettled(
        left.map((piece) =>
          bus.store(
            subjects.session(me, log, piece.head.session),
            encode(piece),
            `${piece.id}.${piece.part}`,
          ),
        ),
      )
      left = left.filter((_, index) => done[index]!.status === 'rejected')
      if (left.length === 0) return
      await Promise.race([sleep(wait), bus.closed.then(() => Promise.reject(new Error('NATS is away')))])
      await bus.ensure().catch(() => {}) // It may be that which did not work.
    }
  }
}

/** How far the stream certainly has the log, by the last message in it. Of a tick in pieces another one may be missing. */
function reached(data: Uint8Array, head: number): number {
  const piece = decode<TickHead>(data)
  if (!piece) return head
  return Math.min(head, piece.parts === 1 ? piece.head.to : piece.head.after)
}
