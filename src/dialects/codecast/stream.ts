import type { ServerResponse } from 'node:http'
import type { Engine } from '../../core/api.ts'
import type { Sent } from '../../core/command.ts'
import type { Content } from '../../core/content.ts'
import type { LoggedEvent } from '../../core/event.ts'
import { createSseWriter, type SseWriter } from '../../transports/sse.ts'
import { OWNER, type Bookmarks } from './bookmarks.ts'
import { wireError } from './errors.ts'
import { fitEvent } from './fit.ts'
import { isOver, turnMapper } from './turns.ts'
import { DONE, type SendParams, type WireEvent } from './wire.ts'

export interface SenderDeps {
  engine: Engine
  bookmarks: Bookmarks
  pingMs: number
}

export interface Sender {
  /** Sends a message and tells its turn as a stream. Never throws: what goes wrong is told on the stream. */
  send(params: SendParams, res: ServerResponse): Promise<void>
  /** Ends all streams; their turns go on and can be read with `session.reconnect`. */
  stop(): void
}

const PING = JSON.stringify({ type: 'ping' } satisfies WireEvent)
const UNREADABLE = 'The log could not be read. The turn goes on; reconnect to read the rest of it.'
const STOPPING = 'The daemon is stopping. The turn goes on; reconnect to read the rest of it.'

export function createSender(deps: SenderDeps): Sender {
  const { engine, bookmarks } = deps
  const streams = new Set<SseWriter>()

  /** The message waits and its sender does not: the bookmark stays, so `session.reconnect` has the answer. */
  function queue({ turnId, position }: Sent, res: ServerResponse): void {
    bookmarks.told(turnId, true)
    const writer = createSseWriter(res, { onSettled: (received) => bookmarks.told(turnId, received) })
    tell(writer, { type: 'queued', position })
    writer.end(DONE)
  }

  function commit(params: SendParams): Promise<Sent> {
    const { sessionId, key } = params
    const input = contentOf(params)
    const known = key === undefined ? {} : { key }
    return engine.turns.send({ sessionId, input, origin: 'codecast', bookmark: OWNER, ...known })
  }

  return {
    async send(params, res) {
      let sent: Sent
      try {
        sent = await commit(params)
      } catch (error) {
        return refuse(res, wireError(error).message)
      }
      if (sent.repeated && sent.seq < engine.events.oldest && isOver(engine, sent.turnId)) {
        return refuse(res, 'This message was answered so long ago that its events are no longer kept')
      }
      if (sent.position > 0 && !params.follow) return queue(sent, res)
      follow(deps, params, sent, { res, streams })
    },
    stop() {
      for (const writer of streams) {
        tell(writer, { type: 'error', message: STOPPING })
        writer.end(DONE)
      }
    },
  }
}

function tell(writer: SseWriter, event: WireEvent): void {
  for (const line of fitEvent(event)) writer.send(line)
}

function refuse(res: ServerResponse, message: string): void {
  const writer = createSseWriter(res)
  tell(writer, { type: 'error', message })
  writer.end(DONE)
}

/** Tells a turn as it goes on. */
function follow(
  { engine, bookmarks, pingMs }: SenderDeps,
  { sessionId, ids }: SendParams,
  sent: Sent,
  { res, streams }: { res: ServerResponse; streams: Set<SseWriter> },
): void {
  const { turnId } = sent
  const mapper = turnMapper(engine, sessionId, turnId, sent.seq - 1)
  bookmarks.opened(turnId)
  const writer = createSseWriter(res, {
    ping: { data: PING, everyMs: pingMs },
    onDrain: () => subscription.resume(),
    onClose() {
      streams.delete(writer)
      subscription.close()
    },
    onSettled: (received) => bookmarks.closed(turnId, received && mapper.ended),
  })
  streams.add(writer)
  if (sent.position > 0) tell(writer, { type: 'queued', position: sent.position })
  else writer.send(PING)

  function deliver(batch: LoggedEvent[]): boolean {
    let ready = writer.open
    for (const { seq, events } of mapper.map(batch)) {
      const lines = events.flatMap(fitEvent)
      // Only the last piece of an event has its id: whoever has seen an id has all that led up to it.
      lines.forEach((line, at) => {
        ready = writer.send(line, ids && at === lines.length - 1 ? seq : undefined)
      })
    }
    if (!mapper.ended) return ready
    writer.end(DONE)
    return false
  }
  const subscription = engine.events.subscribe({ after: sent.seq - 1, sessionId }, deliver, () => {
    tell(writer, { type: 'error', message: UNREADABLE })
    writer.end(DONE)
  })
}

function contentOf({ message, images = [] }: SendParams): Content[] {
  return [{ type: 'text', text: message }, ...images.map((image) => ({ type: 'image' as const, ...image }))]
}
