import type { Engine } from '../../core/api.ts'
import type { Event } from '../../core/event.ts'
import { kindOfTool } from '../../core/known-tools.ts'
import { openApprovals } from '../../core/session.ts'
import { callIdOf, type Change, type ToolCall } from './conversation.ts'
import { sessionOrNull } from './pushes.ts'

interface HeldCall {
  readonly call: ToolCall
  readonly seq: number
  /** When its session was last heard of. */
  heard: number
}

/**
 * Calls that nobody has been told of yet. An agent names a call first and asks about it later, so where people are asked
 * a call is told when it is known which it is: `pending`, with the question there to be answered, or under way.
 */
export interface HeldCalls {
  readonly size: number
  /** What there is to tell of an event's changes now. */
  sift(event: Event, changes: Change[], now: number): Change[]
  /** Calls of sessions that have been silent since then: nobody seems to be asked about them. */
  silentSince(moment: number): Change[]
  /** Who has all that was told has missed nothing up to here. */
  limit(seq: number): number
  copy(): HeldCalls
}

export function createHeldCalls(engine: Engine, held: Map<string, HeldCall> = new Map()): HeldCalls {
  function release(sessionId: string, callId: string | null): Change[] {
    const key = `${sessionId} ${callId}`
    const one = held.get(key)
    held.delete(key)
    return one ? [{ kind: 'call', call: one.call }] : []
  }

  /** What the event itself says about a call: mode or rules have answered for it, or it has calls of its own. */
  function known(event: Event): Change[] {
    if (event.type === 'approval.requested' && !event.open) {
      return release(event.sessionId, callIdOf(event.approval))
    }
    return 'parent' in event && event.parent !== null ? release(event.sessionId, event.parent) : []
  }

  function sifted(change: Change, seq: number, heard: number): Change[] {
    if ('message' in change) return [change]
    const { call } = change
    if (change.kind === 'call') {
      if (call.status !== 'running' || !mayBeAskedAbout(engine, call)) return [change]
      held.set(`${call.sessionId} ${call.id}`, { call, seq, heard })
      return []
    }
    const first = release(call.sessionId, call.id)
    // It waits: that is how it begins.
    return first.length > 0 && call.status === 'pending' ? [{ kind: 'call', call }] : [...first, change]
  }

  return {
    get size() {
      return held.size
    },
    sift(event, changes, now) {
      if (held.size === 0 && !changes.some(({ kind }) => kind === 'call')) return changes
      for (const [key, one] of held) {
        if (one.call.sessionId !== event.sessionId) continue
        one.heard = now
        if (event.type === 'session.destroyed') held.delete(key)
      }
      return [...known(event), ...changes.flatMap((change) => sifted(change, event.seq, now))]
    },
    silentSince(moment) {
      const silent = [...held.values()].filter(({ heard }) => heard <= moment)
      return silent.flatMap(({ call: { sessionId, id } }) => {
        const session = sessionOrNull(engine, sessionId)
        // Agents ask about one call after the other: while a question is open the next one waits.
        return session && openApprovals(session).length > 0 ? [] : release(sessionId, id)
      })
    },
    limit(seq) {
      let limit = seq
      for (const one of held.values()) limit = Math.min(limit, one.seq - 1)
      return limit
    },
    copy: () => createHeldCalls(engine, new Map([...held].map(([key, one]) => [key, { ...one }]))),
  }
}

/** In `auto` nobody is asked, but for what is a question by its nature. */
function mayBeAskedAbout(engine: Engine, { sessionId, name }: ToolCall): boolean {
  const mode = sessionOrNull(engine, sessionId)?.mode ?? 'auto'
  return mode !== 'auto' || kindOfTool(name) === 'question'
}
