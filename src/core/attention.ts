import type { PendingApproval } from './approval.ts'
import { NO_MARKS } from './marks.ts'
import type { Session } from './session.ts'

/*
 * What a session wants of its human. The dashboard uses this too, in the browser: nothing here, nor in what it imports, may need
 * Node.
 */

export const ATTENTIONS = ['needs_you', 'working', 'done', 'snoozed', 'quiet'] as const
export type Attention = (typeof ATTENTIONS)[number]

/** "Not now": the question is still open, and nobody is asked again before then. */
type OpenApproval = Pick<PendingApproval, 'decision' | 'external' | 'turnId'> & {
  deferredUntil?: number | null
}

/** What of a session this depends on. */
export interface Attended extends Pick<
  Session,
  'turn' | 'queue' | 'marks' | 'endedSeq' | 'lastOutcome' | 'origin'
> {
  approvals: readonly OpenApproval[]
}

/** Whoever asked there has the answer: that nobody looks at the session means nothing. */
const READ_ELSEWHERE: ReadonlySet<string | null> = new Set(['relay'])

export function attentionOf(session: Attended, now: number): Attention {
  const { marks = NO_MARKS, turn, queue } = session
  if (isAhead(marks.snoozedUntil, now)) return 'snoozed'
  const open = session.approvals.filter(({ decision }) => decision === null)
  if (open.some(({ deferredUntil }) => !isAhead(deferredUntil, now))) return 'needs_you'
  if (open.some((approval) => isHeldUpBy(turn, approval))) return 'snoozed'
  if (turn || queue.length > 0) return 'working'
  if (marks.settled) return 'quiet'
  if (isUnread(session)) return session.lastOutcome === 'failed' ? 'needs_you' : 'done'
  return marks.snoozedUntil === null ? 'quiet' : 'done'
}

/** When it may become another one by itself; null: never. */
export function attentionUntil({ marks = NO_MARKS, approvals }: Attended, now: number): number | null {
  const open = approvals.filter(({ decision }) => decision === null)
  const moments = [marks.snoozedUntil, ...open.map(({ deferredUntil }) => deferredUntil)]
  const ahead = moments.filter((at): at is number => isAhead(at, now))
  return ahead.length > 0 ? Math.min(...ahead) : null
}

function isAhead(at: number | null | undefined, now: number): boolean {
  return typeof at === 'number' && at > now
}

/** What was asked from outside, and not during this turn, is nothing to the turn: it runs on. */
function isHeldUpBy(turn: Attended['turn'], { external, turnId }: OpenApproval): boolean {
  return turn === null || !external || turnId === turn.id
}

/** Where the last turn ended is not known of sessions of older logs: those count as read. */
function isUnread({ endedSeq, marks = NO_MARKS, origin }: Attended): boolean {
  return (endedSeq ?? 0) > marks.readSeq && !READ_ELSEWHERE.has(origin)
}
