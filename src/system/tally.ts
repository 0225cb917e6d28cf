import type { Engine } from '../core/api.ts'
import type { Decision } from '../core/approval.ts'
import { isPast, type Event, type EventType } from '../core/event.ts'
import { addUsage, NO_USAGE, type Usage } from '../core/usage.ts'

/** What has happened since the daemon started, counted from the log as it grows. */
export interface Tally {
  sessionsCreated: number
  sessionsDestroyed: number
  messagesSent: number
  messagesReceived: number
  toolCalls: number
  turns: Record<'completed' | 'failed' | 'interrupted' | 'cancelled', number>
  turnRetries: number
  approvalsAsked: number
  approvals: Record<Decision['behavior'], number>
  agentsStarted: number
  agentsExited: Record<'expected' | 'unexpected', number>
  usage: Usage
}

export function emptyTally(): Tally {
  return {
    sessionsCreated: 0,
    sessionsDestroyed: 0,
    messagesSent: 0,
    messagesReceived: 0,
    toolCalls: 0,
    turns: { completed: 0, failed: 0, interrupted: 0, cancelled: 0 },
    turnRetries: 0,
    approvalsAsked: 0,
    approvals: { allow: 0, deny: 0, respond: 0, cancelled: 0 },
    agentsStarted: 0,
    agentsExited: { expected: 0, unexpected: 0 },
    usage: NO_USAGE,
  }
}

/** Deltas, by far the most events there are, are not among them. */
const COUNTED = [
  'session.created',
  'session.destroyed',
  'turn.queued',
  'turn.retried',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
  'message.completed',
  'tool.started',
  'approval.requested',
  'approval.resolved',
  'agent.started',
  'agent.exited',
] as const satisfies EventType[]

type Counted = Extract<Event, { type: (typeof COUNTED)[number] }>

export function count(tally: Tally, event: Counted): void {
  switch (event.type) {
    case 'session.created':
      tally.sessionsCreated += 1
      return
    case 'session.destroyed':
      tally.sessionsDestroyed += 1
      return
    case 'turn.queued':
      tally.messagesSent += 1
      return
    case 'turn.retried':
      tally.turnRetries += 1
      return
    case 'turn.cancelled':
      if (event.steered === undefined) tally.turns.cancelled += 1
      return
    case 'turn.completed':
    case 'turn.failed':
    case 'turn.interrupted':
      tally.turns[outcomeOf(event.type)] += 1
      tally.usage = addUsage(tally.usage, event.usage)
      return
    case 'message.completed':
      if (event.kind === 'text') tally.messagesReceived += 1
      return
    case 'tool.started':
      tally.toolCalls += 1
      return
    case 'approval.requested':
      if (event.open) tally.approvalsAsked += 1
      return
    case 'approval.resolved':
      tally.approvals[event.decision.behavior] += 1
      return
    case 'agent.started':
      tally.agentsStarted += 1
      return
    case 'agent.exited':
      tally.agentsExited[event.expected ? 'expected' : 'unexpected'] += 1
  }
}

const outcomeOf = (type: 'turn.completed' | 'turn.failed' | 'turn.interrupted') =>
  type.slice('turn.'.length) as 'completed' | 'failed' | 'interrupted'

/** Counts from now on; one reader of the log, whoever asks for the numbers. */
export function keepTally(engine: Pick<Engine, 'events'>): { tally: Tally; close(): void } {
  const tally = emptyTally()
  const subscription = engine.events.subscribe({ after: engine.events.head, types: COUNTED }, (events) => {
    for (const { event } of events) if (!isPast(event)) count(tally, event as Counted)
  })
  return { tally, close: () => subscription.close() }
}
