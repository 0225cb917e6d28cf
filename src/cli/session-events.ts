import type { Event, EventType } from '../core/event.ts'
import type { EventStream, NativeClient } from '../client/client.ts'

interface Selection {
  sessionId: string
  types: EventType[]
  onReset(): void
}

interface SessionEvents {
  lastSeq(sessionId: string, types: EventType[]): Promise<number>
  events(selection: Selection): EventStream & AsyncIterable<Event>
}

/** The events of sessions, as a dialect on stdin and stdout reads them from the daemon. */
export function sessionEvents(calls: NativeClient, feed: NativeClient): SessionEvents {
  return {
    async lastSeq(sessionId, types) {
      const { head } = (await calls.call('daemon.status')).log
      const { events } = await calls.call('events.read', { sessionId, types, before: head + 1, limit: 1 })
      return events[0]?.seq ?? 0
    },
    events({ onReset, ...selection }) {
      return feed.events({
        ...selection,
        after: 0,
        onReset({ head }) {
          onReset()
          return head
        },
      })
    },
  }
}
