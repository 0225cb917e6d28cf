import type { Engine } from '../../core/api.ts'
import type { LoggedEvent } from '../../core/event.ts'
import type { Session } from '../../core/session.ts'
import { forMany } from '../../transports/line-writer.ts'
import { toWire } from './events.ts'
import type { Follower } from './following.ts'
import { resultLine } from './rpc.ts'

/** The types of events that a subscriber wants. */
export interface WantedTypes {
  /** The same for everybody who wants the same. */
  key: string
  has(type: string): boolean
}

const EVERYTHING: WantedTypes = { key: '', has: () => true }

export function wantedTypes(types: readonly string[]): WantedTypes {
  if (types.length === 0) return EVERYTHING
  const set = new Set(types)
  return { key: JSON.stringify([...set].sort()), has: (type) => set.has(type) }
}

interface Encoded {
  lines: { type: string; line: string }[]
  /** Joined, for each choice of types that somebody has made. */
  texts: Map<string, string | Buffer>
}

/** A batch goes to many subscribers as the same array: it is put into words once. */
const cache = new WeakMap<LoggedEvent[], Encoded>()

/** What a batch says to a subscriber, as lines without the last LF; empty when that is nothing. */
export function linesOf(
  engine: Engine,
  follower: Follower,
  events: LoggedEvent[],
  wanted: WantedTypes,
): string | Buffer {
  let encoded = cache.get(events)
  if (encoded) follower.skip()
  else cache.set(events, (encoded = { lines: encode(engine, follower, events), texts: new Map() }))
  let text = encoded.texts.get(wanted.key)
  if (text === undefined) {
    const chosen = encoded.lines.filter(({ type }) => wanted.has(type))
    text = forMany(chosen.map(({ line }) => line).join('\n'))
    encoded.texts.set(wanted.key, text)
  }
  return text
}

function encode(engine: Engine, follower: Follower, events: LoggedEvent[]): Encoded['lines'] {
  const reader = readingOnce(engine)
  return events.flatMap((logged) =>
    toWire(reader, logged, follower.changes(logged)).map(({ type, json }) => ({
      type,
      line: resultLine(`{"event":${json}}`),
    })),
  )
}

/** Nearly every event of a batch asks for the same session: whoever replays a long one makes others wait less so. */
function readingOnce(engine: Engine): Engine {
  const known = new Map<string, Session>()
  const get = (id: string): Session => {
    const found = known.get(id) ?? engine.sessions.get(id)
    known.set(id, found)
    return found
  }
  const sessions = Object.create(engine.sessions, { get: { value: get } }) as Engine['sessions']
  return Object.create(engine, { sessions: { value: sessions } }) as Engine
}
