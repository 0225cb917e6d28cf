import { CorralError, type ErrorCode } from '../../src/core/error.ts'
import type { AskHuman, CreateSession } from '../../src/core/command.ts'
import type { Event, EventType } from '../../src/core/event.ts'
import type { ApprovalRow } from '../../src/core/ports.ts'
import type { TestEngine } from './engine.ts'

/** A session of the demo agent that asks about everything, but for what the test needs otherwise. */
export async function newSession(t: TestEngine, given: Partial<CreateSession> = {}): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode: 'ask', ...given })).id
}

/** A question from outside: may this command run? */
export function ask(t: TestEngine, sessionId: string, given: Partial<AskHuman> = {}): Promise<ApprovalRow> {
  return t.engine.approvals.ask({ sessionId, kind: 'tool', tool: 'Bash', input: { command: 'ls' }, ...given })
}

export function allow(t: TestEngine, approvalId: string, by = 'me'): Promise<ApprovalRow> {
  return t.engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by })
}

export function eventsOf<T extends EventType>(
  t: TestEngine,
  sessionId: string,
  type: T,
): (Event & { type: T })[] {
  const found = t.engine.events.read({ sessionId, after: 0, types: [type], limit: 1000 })
  return found.map(({ event }) => event as Event & { type: T })
}

export function statusesOf(t: TestEngine, sessionId: string): string[] {
  return eventsOf(t, sessionId, 'session.status').map(({ status }) => status)
}

/** Who answered, and what. */
export function answerTo(t: TestEngine, approvalId: string): string {
  const { decision, decidedBy } = t.engine.approvals.get(approvalId)
  return decision ? `${decision.behavior} by ${decidedBy}` : 'open'
}

/** The approval's end, whenever it comes. */
export async function resolved(t: TestEngine, { id, sessionId }: ApprovalRow): Promise<string> {
  for (let after = 0; ;) {
    const event = await t.event('approval.resolved', { sessionId, after })
    if (event.approvalId === id) return `${event.decision.behavior} by ${event.by}`
    after = event.seq
  }
}

export function code(wanted: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof CorralError && error.code === wanted
}
