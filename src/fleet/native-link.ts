import { dial } from '../client/dial.ts'
import { ConnectionLost, type Link } from '../client/link.ts'
import type { Event } from '../core/event.ts'
import type { LogCursor } from '../core/machine.ts'
import type { Called, EventPage, Hello, MachineLink } from './link.ts'

/** A daemon whose socket can be reached at this path. */
export async function linkTo(socket: string): Promise<MachineLink> {
  const inbox = new Inbox()
  const link = await dial({ address: socket }, (method, params) => inbox.receive(method, params))
  const ask = async <T>(method: string, params: object = {}): Promise<T> =>
    (await link.request(method, params)) as T
  return {
    hello: () => ask<Hello>('member.hello'),
    sessions: async () => (await ask<{ ids: string[] }>('member.sessions')).ids,
    beginning: async (sessionId) =>
      (await ask<{ events: Event[] }>('member.beginning', { sessionId })).events,
    async eventAt(seq) {
      // `after` a number that the log has not reached would be refused.
      const { events } = await ask<{ events: Event[] }>('events.read', { before: seq + 1, limit: 1 })
      return events[0]?.seq === seq ? events[0] : null
    },
    async events(after, to) {
      const range = { after, before: to + 1, own: true, limit: PAGE }
      const { events, more } = await ask<EventPage>('events.read', range)
      return { events, more }
    },
    async follow(after, deliver) {
      await ask('events.subscribe', { ...subscription(after), own: true })
      return inbox.drain(link, deliver)
    },
    call: (method, params, caller) => ask<Called>('member.call', { method, params, caller }),
    close: () => link.close(),
  }
}

function subscription({ log, seq }: LogCursor): { after: number; log: string } {
  return { after: seq, log }
}

const PAGE = 1000

/** So many events may wait for the log before nothing more is read. */
const ENOUGH = 1000

/** Events on their way into the log. */
class Inbox {
  #events: Event[] = []
  #wake: () => void = () => {}
  #link: Link | null = null
  #closed = false

  receive(method: string, params: unknown): void {
    if (method === 'events.closed') this.#closed = true
    else if (method === 'events') this.#events.push(...(params as { events: Event[] }).events)
    if (this.#events.length > ENOUGH) this.#link?.pause()
    this.#wake()
  }

  async drain(link: Link, deliver: (events: Event[]) => Promise<void>): Promise<never> {
    this.#link = link
    void link.closed.then(() => this.#wake())
    for (;;) {
      const events = this.#events.splice(0, ENOUGH)
      if (events.length > 0) {
        await deliver(events)
        continue
      }
      link.resume()
      if (!link.open || this.#closed) throw new ConnectionLost()
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
