import type { MarkSession } from './command.ts'
import type { EventBody, EventOf, LoggedEvent } from './event.ts'
import { MAX_FLAG, MAX_FLAGS, NO_MARKS, type Marks } from './marks.ts'
import { invalid, oneLine } from './naming.ts'
import type { Session } from './session.ts'

/*
 * Every rule about marks. Pure, like `decide`.
 */

type Wanted = Omit<MarkSession, 'sessionId'>

/** `head` is the newest event that anybody can have read. */
export function mark(
  state: Session,
  wanted: Wanted,
  { now, head }: { now: number; head: number },
): EventBody[] {
  const marks = state.marks ?? NO_MARKS
  const readSeq = Math.max(marks.readSeq, Math.min(wanted.readSeq ?? 0, head))
  const next: Marks = {
    readSeq,
    pinned: wanted.pinned ?? marks.pinned,
    snoozedUntil: snoozed(marks, wanted, now),
    settled: wanted.settled ?? (isSnooze(wanted, now) ? false : marks.settled),
    flags: wanted.flags === undefined ? marks.flags : soundFlags(wanted.flags),
  }
  const patch = difference(marks, next)
  return Object.keys(patch).length === 0 ? [] : [{ type: 'session.marked', ...patch }]
}

function isSnooze({ snoozedUntil = null }: Wanted, now: number): boolean {
  return snoozedUntil !== null && snoozedUntil > now
}

/** A time that has passed is none. What is settled, or looked at when its time has come, need not come back. */
function snoozed(marks: Marks, wanted: Wanted, now: number): number | null {
  if (wanted.snoozedUntil !== undefined) return isSnooze(wanted, now) ? wanted.snoozedUntil : null
  if (wanted.settled === true) return null
  const isOver = marks.snoozedUntil !== null && marks.snoozedUntil <= now
  return isOver && wanted.readSeq !== undefined ? null : marks.snoozedUntil
}

function soundFlags(flags: readonly string[]): string[] {
  const sound = [...new Set(flags.map((flag) => oneLine(flag, 'flags', MAX_FLAG)))]
  if (sound.length > MAX_FLAGS) throw invalid('flags', `at most ${MAX_FLAGS} are kept; remove some first`)
  return sound
}

function difference(before: Marks, after: Marks): Partial<Marks> {
  const isOther = (key: string): boolean =>
    JSON.stringify(before[key as keyof Marks]) !== JSON.stringify(after[key as keyof Marks])
  return Object.fromEntries(Object.entries(after).filter(([key]) => isOther(key)))
}

/**
 * What the events of a batch undo: who sends a message is not done with the session, nor does it stay out of sight; and a
 * question ends a snooze.
 */
export function takenBack(state: Session, batch: readonly LoggedEvent[]): EventBody[] {
  const { settled, snoozedUntil } = state.marks ?? NO_MARKS
  if (state.destroyed || (!settled && snoozedUntil === null)) return []
  const isSent = batch.some(({ type }) => type === 'turn.queued')
  const isAsked = batch.some(({ event }) => event.type === 'approval.requested' && event.open)
  const patch: Omit<EventOf<'session.marked'>, 'type'> = {
    ...(isSent && settled && { settled: false }),
    ...((isSent || isAsked) && snoozedUntil !== null && { snoozedUntil: null }),
  }
  return Object.keys(patch).length === 0 ? [] : [{ type: 'session.marked', ...patch }]
}
