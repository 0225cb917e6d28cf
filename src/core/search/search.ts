import { CorralError } from '../error.ts'
import type { Event } from '../event.ts'
import type { Log } from '../ports.ts'
import { parseQuery } from './query.ts'
import { snippetOf, type Snippet } from './snippet.ts'
import { spokenIn, type Spoken } from './spoken.ts'

export interface SearchRequest {
  text: string
  sessionId?: string
  /** `next` of the page before. */
  cursor?: string
  limit: number
}

export interface SearchHit extends Snippet {
  sessionId: string
  turnId: string | null
  seq: number
  at: number
  /** Where it was said; not there: here. */
  machine?: string
  role: Spoken['role']
}

export interface SearchResult {
  hits: SearchHit[]
  next: string | null
}

/** A page: the log as it was when the first one was read, so that what is said meanwhile moves nothing. */
interface SearchCursor {
  until: number
  offset: number
}

export function search(log: Pick<Log, 'search' | 'head' | 'turn'>, request: SearchRequest): SearchResult {
  const { text, sessionId, cursor, limit } = request
  const { until, offset } = cursor === undefined ? { until: log.head, offset: 0 } : decode(cursor)
  const phrases = parseQuery(text)
  if (phrases.length === 0) return { hits: [], next: null }
  const query = { phrases, until, offset, limit: limit + 1, ...(sessionId !== undefined && { sessionId }) }
  const found = log.search(query)
  const hits = found.slice(0, limit).flatMap(({ event }): SearchHit[] => {
    const spoken = spokenIn(asSaid(log, event))
    if (!spoken) return []
    const { seq, at, turnId = null, sessionId, machine } = event
    const { role, text: said } = spoken
    const where = machine === undefined ? {} : { machine }
    return [{ sessionId, turnId, seq, at, ...where, role, ...snippetOf(said, phrases) }]
  })
  return { hits, next: found.length > limit ? encode({ until, offset: offset + limit }) : null }
}

/** A message may have been changed while it waited; it is found where it was queued. */
function asSaid(log: Pick<Log, 'turn'>, event: Event): Event {
  if (event.type !== 'turn.queued') return event
  const turn = log.turn(event.turnId)
  return turn?.seq === event.seq ? { ...event, input: turn.input } : event
}

function encode({ until, offset }: SearchCursor): string {
  return `${until}-${offset}`
}

function decode(cursor: string): SearchCursor {
  const [, until, offset] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []
  if (until !== undefined && offset !== undefined) return { until: Number(until), offset: Number(offset) }
  throw new CorralError('invalid', 'cursor does not come from a search', { field: 'cursor' })
}
