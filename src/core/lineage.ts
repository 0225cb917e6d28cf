import type { Log } from './ports.ts'
import type { Session } from './session.ts'

/** A session as far as it belongs to a conversation. */
export interface ConversationPart {
  session: Session
  /** The `seq` of its last event that does; `Infinity`: all of it. */
  until: number
}

/** The sessions that one branched off, the nearest first. */
export function ancestorsOf(log: Pick<Log, 'session'>, session: Session): Session[] {
  const line: Session[] = []
  const seen = new Set([session.id])
  for (let id = session.parentId; id !== null && !seen.has(id);) {
    seen.add(id)
    const ancestor = log.session(id)
    if (!ancestor) break
    line.push(ancestor)
    id = ancestor.parentId
  }
  return line
}

/** A session and those that it branched off, the oldest first; each up to where the next one did. */
export function lineageOf(log: Pick<Log, 'session' | 'events'>, session: Session): ConversationPart[] {
  let until = Number.POSITIVE_INFINITY
  const parts = [session, ...ancestorsOf(log, session)].map((one) => {
    const part = { session: one, until }
    // What came later than the point where a part ends is no part of what is before it, either.
    until = Math.min(until, one.branch?.seq ?? beginningOf(log, one) - 1)
    return part
  })
  return parts.reverse()
}

/** The number of its first event. Where retention has removed that, all that was there before it is gone as well. */
function beginningOf(log: Pick<Log, 'events'>, { id: sessionId }: Session): number {
  const [created] = log.events({ sessionId, after: 0, types: ['session.created'], limit: 1 })
  return created?.seq ?? 1
}
