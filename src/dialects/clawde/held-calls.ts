import type { Call, Change } from '../../core/conversation/item.ts'
import type { Event } from '../../core/event.ts'
import { kindOfTool } from '../../core/known-tools.ts'
import type { Mode } from '../../core/mode.ts'

interface HeldCall {
  readonly sessionId: string
  readonly call: Call
  /** The event that it began with. */
  readonly seq: number
}

/**
 * Calls that nobody has been told of yet. An agent names a call first and asks about it later, so where people are asked
 * a call is told when it is known which it is: `pending`, with the question there to be answered, or under way.
 */
export interface HeldCalls {
  readonly size: number
  /** What there is to tell of an event's changes now. `mode`: of the session then; null: not known. */
  sift(event: Event, changes: Change[], mode: Mode | null): Change[]
  /** Gives up the calls of the sessions that fit: nobody seems to be asked about them. */
  release(fits: (sessionId: string) => boolean): HeldCall[]
  /** Who has all that was told has missed nothing up to here. */
  limit(seq: number): number
  copy(): HeldCalls
}

export function createHeldCalls(held: Map<string, HeldCall> = new Map()): HeldCalls {
  function told(key: string): Change[] {
    const one = held.get(key)
    held.delete(key)
    return one ? [{ type: 'call', call: one.call, was: null }] : []
  }

  function sifted({ sessionId, seq }: Event, change: Change, mode: Mode | null): Change[] {
    // A mode or a rule answers.
    if (change.type === 'asked' && !change.question.asked) {
      return told(keyOf(sessionId, change.question.callId))
    }
    if (change.type !== 'call') return [change]
    const { call, was } = change
    const key = keyOf(sessionId, call.id)
    const first = told(key)
    if (was === null && call.state === 'running' && mayBeAskedAbout(call, mode)) {
      held.set(key, { sessionId, call, seq })
      return first
    }
    // It waits: that is how it begins.
    return first.length > 0 && call.state === 'asked' ? [{ ...change, was: null }] : [...first, change]
  }

  return {
    get size() {
      return held.size
    },
    sift(event, changes, mode) {
      if (held.size === 0 && !changes.some(({ type }) => type === 'call')) return changes
      const { sessionId, type } = event
      if (type === 'session.destroyed') {
        for (const [key, one] of held) if (one.sessionId === sessionId) held.delete(key)
      }
      // What has calls of its own is at work.
      const parent = 'parent' in event ? event.parent : null
      const first = parent === null ? [] : told(keyOf(sessionId, parent))
      return [...first, ...changes.flatMap((change) => sifted(event, change, mode))]
    },
    release(fits) {
      const chosen = [...held].filter(([, { sessionId }]) => fits(sessionId))
      for (const [key] of chosen) held.delete(key)
      return chosen.map(([, one]) => one)
    },
    limit(seq) {
      let limit = seq
      for (const one of held.values()) limit = Math.min(limit, one.seq - 1)
      return limit
    },
    copy: () => createHeldCalls(new Map(held)),
  }
}

function keyOf(sessionId: string, callId: string): string {
  return `${sessionId} ${callId}`
}

/** In `auto` nobody is asked, but for what is a question by its nature. */
function mayBeAskedAbout({ tool }: Call, mode: Mode | null): boolean {
  return mode !== 'auto' || kindOfTool(tool) === 'question'
}
