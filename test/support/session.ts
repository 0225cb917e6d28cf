import type { Approval } from '../../src/core/approval.ts'
import type { Surroundings } from '../../src/core/approving.ts'
import { send } from '../../src/core/decide.ts'
import type { Event, EventBody } from '../../src/core/event.ts'
import { NO_RULES } from '../../src/core/rule.ts'
import { apply, type Session } from '../../src/core/session.ts'

/** Nothing around the session has anything to say. */
export const AROUND: Surroundings = {
  now: 0,
  directoryRules: [],
  directory: { path: '/project', rules: NO_RULES },
  approvalTimeoutMs: null,
}

/** A session as it is right after it was made, but for what the test needs otherwise. */
export function aSession(patch: Partial<Session> = {}): Session {
  const made = {
    agent: 'demo',
    cwd: '/project',
    mode: 'ask',
    model: null,
    title: null,
    settings: {},
    rules: NO_RULES,
  } as const
  const unset = { nativeId: null, parentId: null, forkFrom: null, origin: null }
  const event = {
    type: 'session.created',
    seq: 1,
    at: 0,
    sessionId: patch.id ?? 's1',
    ...made,
    ...unset,
  } as const
  return { ...apply(null, event), ...patch }
}

let seq = 1

/** The session after these events. */
export function after(state: Session, bodies: EventBody[]): Session {
  return bodies.reduce(
    (now, body) => apply(now, { seq: ++seq, at: seq, sessionId: now.id, ...body } as Event),
    state,
  )
}

/** A session in the middle of turn `t1`, with its process. */
export function running(patch: Partial<Session> = {}): Session {
  const session = aSession(patch)
  return after(session, [
    ...send(session, 't1', { sessionId: session.id, input: [] }, 10),
    { type: 'agent.started', run: { id: 'r1', pid: 1, startTime: '1', bootId: 'b' }, resumed: false },
    { type: 'turn.accepted', turnId: 't1' },
  ])
}

export function aQuestion(id: string, patch: Partial<Approval> = {}): Approval {
  return {
    id,
    requestId: id,
    kind: 'tool',
    tool: 'Bash',
    input: {},
    edits: false,
    callId: null,
    summary: null,
    suggestions: null,
    parent: null,
    ...patch,
  }
}
