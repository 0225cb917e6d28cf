import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../../core/api.ts'
import type { Event, EventType } from '../../core/event.ts'

const PAGE = 500

/** All events of a session, page by page, so that a long one does not hold up everybody else. */
export async function* eventsOf(
  engine: Engine,
  sessionId: string,
  types: readonly EventType[],
): AsyncGenerator<Event[]> {
  let after = 0
  for (;;) {
    const page = engine.events.read({ sessionId, after, types: [...types], limit: PAGE })
    yield page.map(({ event }) => event)
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last.seq
    await setImmediate()
  }
}
