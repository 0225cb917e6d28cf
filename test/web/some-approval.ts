import type { Approval } from '../../web/state/who.ts'

/** A question about a command, but for what is given. */
export function someApproval(id: string, given: Partial<Approval> = {}): Approval {
  return {
    id,
    sessionId: 'session',
    turnId: 'turn',
    kind: 'tool',
    tool: 'Bash',
    input: { command: 'ls' },
    about: { class: 'shell', subjects: ['ls'] },
    callId: null,
    summary: null,
    suggestions: null,
    parent: null,
    external: false,
    timeoutAt: null,
    requestedAt: 1,
    deferredUntil: null,
    decision: null,
    decidedBy: null,
    decidedAt: null,
    ...given,
  }
}
