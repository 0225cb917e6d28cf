import type { Engine } from '../../core/api.ts'
import type { Bookmark } from '../../core/ports.ts'
import { OWNER, type Bookmarks } from './bookmarks.ts'
import { fitEvent } from './fit.ts'
import { isOver, turnMapper } from './turns.ts'

export interface ReplayLimits {
  events: number
  bytes: number
}

const LIMITS: ReplayLimits = { events: 10_000, bytes: 16 * 1024 * 1024 }
const PAGE = 500
const TURNS_LOOKED_AT = 200

export interface Replayed {
  /** Codecast events, each as JSON. */
  lines: string[]
  /** The highest `seq` that was looked at. */
  lastSeq: number
  /** A limit was met: the next call goes on from here. */
  more: boolean
  /** To be called once the client has the answer: these events are not returned again. */
  acknowledge(): void
}

interface Part {
  lines: string[]
  bytes: number
  seq: number
  ended: boolean
  more: boolean
}

/**
 * What the client of a session has missed, read from the log: since its bookmarks, or, when it can say so itself, since the last
 * event it has seen.
 */
export function replay(
  engine: Engine,
  bookmarks: Bookmarks,
  sessionId: string,
  since?: number,
  limits: ReplayLimits = LIMITS,
): Replayed {
  const after = since ?? 0
  const missed = since === undefined ? bookmarks.waiting(sessionId) : turnsSince(engine, sessionId, since)
  const lines: string[] = []
  const parts: { bookmark: Bookmark; part: Part }[] = []
  let bytes = 0
  let lastSeq = after
  let more = false
  for (const bookmark of missed) {
    const left = { events: limits.events - lines.length, bytes: limits.bytes - bytes }
    if (left.events <= 0 || left.bytes <= 0) {
      more = true
      break
    }
    const part = readTurn(engine, bookmark, Math.max(bookmark.seq, after), left)
    for (const line of part.lines) lines.push(line)
    bytes += part.bytes
    lastSeq = Math.max(lastSeq, part.seq)
    parts.push({ bookmark, part })
    more = part.more
    if (more) break
  }
  return {
    lines,
    lastSeq,
    more,
    acknowledge() {
      for (const { bookmark, part } of parts) {
        if (part.ended) bookmarks.done(bookmark.turnId)
        else if (part.seq > bookmark.seq) bookmarks.moved(bookmark, part.seq)
      }
    },
  }
}

/** The client's word counts, not what is known of its streams: every turn of its own that may have gone on since. */
function turnsSince(engine: Engine, sessionId: string, since: number): Bookmark[] {
  return engine.turns
    .list(sessionId, TURNS_LOOKED_AT)
    .filter(({ origin }) => origin === OWNER)
    .map(({ id }) => ({ owner: OWNER, sessionId, turnId: id, seq: since }))
    .toReversed()
}

function readTurn(
  engine: Engine,
  { sessionId, turnId }: Bookmark,
  after: number,
  limits: ReplayLimits,
): Part {
  const mapper = turnMapper(engine, sessionId, turnId, after)
  const part: Part = { lines: [], bytes: 0, seq: after, ended: false, more: false }
  for (;;) {
    // Looked at first: its end may be committed before the next line, and would not be in the page.
    const wasOver = isOver(engine, turnId)
    const page = engine.events.read({ sessionId, turnId, after: part.seq, limit: PAGE })
    for (const { seq, events } of mapper.map(page)) {
      if (part.lines.length >= limits.events || part.bytes >= limits.bytes) return { ...part, more: true }
      for (const line of events.flatMap(fitEvent)) {
        part.lines.push(line)
        part.bytes += line.length
      }
      part.seq = seq
    }
    part.seq = page.at(-1)?.seq ?? part.seq
    // Over without an end in sight: the client has it already, or it is too old to be in the log.
    if (mapper.ended || (page.length < PAGE && wasOver)) return { ...part, ended: true }
    if (page.length < PAGE) return part
  }
}
