import { ConnectionLost } from '../../client/link.ts'
import type { Event } from '../../core/event.ts'
import type { EventPage } from '../link.ts'
import type { Bus } from './bus.ts'
import { decode, Gathering, tickFrom, type Piece, type Tick, type TickHead } from './pieces.ts'
import { subjects } from './subjects.ts'

export interface ReaderOptions {
  bus: Bus
  machine: string
  log: string
  /** How far its log is in the stream, as it has said last. */
  published(): number
  /** Of the machine itself: its own events after a number, up to another one, as many as fit. */
  ask(after: number, to: number): Promise<EventPage>
  signal: AbortSignal
}

type Deliver = (events: Event[]) => Promise<void>

/** What may wait to be delivered; beyond it, all is read from the stream again. */
const MAX_WAITING = 5000

/**
 * The events of one machine's log after a place, in order, each once. They come as they are published; what was missed is read from the
 * stream, and what the stream does not have is asked of the machine. Where one tick ends the next one begins, which is how it is seen.
 */
export class Reader {
  readonly #options: ReaderOptions
  readonly #live: Tick[] = []
  #waiting = 0
  #place: number
  /** Something may be in the stream that did not come by itself. */
  #missed = true
  #wake: () => void = () => {}

  constructor(options: ReaderOptions, after: number) {
    this.#options = options
    this.#place = after
  }

  /** Look whether something did not come. */
  nudge(): void {
    if (this.#live.length > 0 || this.#options.published() <= this.#place) return
    this.#missed = true
    this.#wake()
  }

  async run(deliver: Deliver): Promise<never> {
    const { bus, machine, log, signal } = this.#options
    const gathering = new Gathering<TickHead>()
    const stop = bus.subscribe(subjects.log(machine, log), ({ data }) => this.#hear(gathering, data))
    const over = (): void => this.#wake()
    signal.addEventListener('abort', over)
    try {
      for (;;) {
        if (signal.aborted) throw new ConnectionLost()
        if (this.#missed) await this.#catchUp(deliver)
        else if (this.#live.length > 0) await this.#next(deliver)
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      signal.removeEventListener('abort', over)
      stop()
    }
  }

  #hear(gathering: Gathering<TickHead>, data: Uint8Array): void {
    const tick = whole(gathering, data)
    if (!tick || tick.to <= this.#place) return
    this.#waiting += tick.events.length
    this.#live.push(tick)
    if (this.#waiting > MAX_WAITING) {
      this.#live.length = 0
      this.#waiting = 0
      this.#missed = true
    }
    this.#wake()
  }

  async #next(deliver: Deliver): Promise<void> {
    const [tick] = this.#live
    if (tick!.after > this.#place) await this.#catchUp(deliver)
    // Meanwhile the list may have been given up.
    if (this.#live[0] !== tick) return
    this.#live.shift()
    this.#waiting -= tick!.events.length
    await this.#take(tick!, deliver)
  }

  async #catchUp(deliver: Deliver): Promise<void> {
    const { bus, machine, log, published } = this.#options
    this.#missed = false
    const subject = subjects.log(machine, log)
    const gathering = new Gathering<TickHead>()
    let place = await this.#find(subject)
    for (;;) {
      const message = await bus.stored(place, subject)
      if (!message) break
      place = message.place + 1
      const tick = whole(gathering, message.data)
      if (tick) await this.#take(tick, deliver)
    }
    await this.#fill(published(), deliver)
  }

  /** Where the stream has what comes after our place, or the end of it: what is later in it is also later in the log. */
  async #find(subject: string): Promise<number> {
    const { bus } = this.#options
    let { first: low, last: high } = await bus.storedRange()
    high += 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const message = await bus.stored(middle, subject)
      const piece = message && decode<TickHead>(message.data)
      if (!message || !piece || piece.head.to > this.#place) high = middle
      else low = message.place + 1
    }
    return low
  }

  async #take({ after, to, events }: Tick, deliver: Deliver): Promise<void> {
    await this.#fill(after, deliver)
    const fresh = events.filter(({ seq }) => seq > this.#place)
    if (fresh.length > 0) await deliver(fresh)
    this.#place = Math.max(this.#place, to)
  }

  /** What lies before this is nowhere but there. */
  async #fill(to: number, deliver: Deliver): Promise<void> {
    while (this.#place < to) {
      const { events, more } = await this.#options.ask(this.#place, to)
      if (events.length > 0) await deliver(events)
      this.#place = more ? events.at(-1)!.seq : to
    }
  }
}

function whole(gathering: Gathering<TickHead>, data: Uint8Array): Tick | null {
  const piece: Piece<TickHead> | null = decode(data)
  const all = piece && gathering.take(piece)
  return all && tickFrom(all)
}
