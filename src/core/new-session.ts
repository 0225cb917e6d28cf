import type { Event } from './event.ts'
import { NO_RULES } from './rule.ts'
import type { Session } from './session.ts'
import { NO_USAGE } from './usage.ts'

/** A session as it begins: nothing runs, nothing waits. */
export function created(event: Event & { type: 'session.created' }): Session {
  return {
    id: event.sessionId,
    agent: event.agent,
    cwd: event.cwd,
    title: event.title,
    mode: event.mode,
    modeBeforePlan: null,
    model: event.model,
    usedModel: null,
    effort: event.effort ?? null,
    settings: event.settings,
    rules: event.rules ?? NO_RULES,
    nativeId: event.nativeId,
    forkFrom: event.forkFrom,
    ...(event.forkAt !== undefined && { forkAt: event.forkAt }),
    ...(event.branch && { branch: event.branch }),
    ...(event.recap && { recap: true }),
    parentId: event.parentId,
    origin: event.origin,
    createdAt: event.at,
    activeAt: event.at,
    turn: null,
    queue: [],
    steers: [],
    approvals: [],
    calls: [],
    notes: {},
    asked: 0,
    granted: [],
    planAgreedIn: null,
    run: null,
    paused: false,
    destroyed: false,
    archived: false,
    turnCount: 0,
    usage: NO_USAGE,
    lastOutcome: null,
    lastError: null,
    ...(event.worktreeOf !== undefined && { worktreeOf: event.worktreeOf }),
  }
}
