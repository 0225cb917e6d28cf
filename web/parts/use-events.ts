import { useEffect, useRef } from 'preact/hooks'
import type { Event, EventType } from '../../src/core/event.ts'
import { client } from '../state/connection.ts'

/** Tells of events as they happen, from now on, over lost connections. */
export function useEvents(
  options: { sessionId?: string; types: readonly EventType[] },
  onEvent: (event: Event) => void,
): void {
  const told = useRef(onEvent)
  told.current = onEvent
  useEffect(() => {
    const { types, ...about } = options
    const stream = client().events({ ...about, types, onReset: () => 'now' })
    void follow(stream, (event) => told.current(event))
    return () => stream.close()
  }, [options.sessionId, options.types.join()])
}

async function follow(stream: AsyncIterable<Event>, tell: (event: Event) => void): Promise<void> {
  try {
    for await (const event of stream) tell(event)
  } catch {
    // Signed out: the whole page says so.
  }
}
