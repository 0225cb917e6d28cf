import type { Engine } from './api.ts'
import type { EventType } from './event.ts'
import type { ApprovalRow } from './ports.ts'

export interface WaitOptions {
  /** As it is then, decided or not. */
  timeoutMs: number
  signal?: AbortSignal
}

/** The approval, once it is decided, or when the time is up. */
export function untilDecided(
  engine: Pick<Engine, 'approvals' | 'events'>,
  approvalId: string,
  { timeoutMs, signal }: WaitOptions,
): Promise<ApprovalRow> {
  const now = engine.approvals.get(approvalId)
  if (now.decision || timeoutMs <= 0 || signal?.aborted) return Promise.resolve(now)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const options = {
    after: engine.events.head,
    sessionId: now.sessionId,
    types: ['approval.resolved' as const],
  }
  const subscription = engine.events.subscribe(
    options,
    (events) => {
      const ours = events.some(
        ({ event }) => event.type === 'approval.resolved' && event.approvalId === approvalId,
      )
      if (ours) resolve()
    },
    reject,
  )
  // A daemon that ends does not stay for the rest of it.
  const timer = setTimeout(resolve, timeoutMs).unref()
  const give = (): void => resolve()
  signal?.addEventListener('abort', give)
  return promise
    .finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', give)
      subscription.close()
    })
    .then(() => engine.approvals.get(approvalId))
}

const ENDS: readonly EventType[] = ['turn.completed', 'turn.failed', 'turn.interrupted', 'session.destroyed']

/** Resolves when a turn that runs is over, or when the time is up. */
export async function untilOver(
  engine: Pick<Engine, 'turns' | 'events'>,
  { sessionId, turnId, timeoutMs }: { sessionId: string; turnId: string; timeoutMs: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const look = (): void => {
    if (engine.turns.get(turnId).state !== 'running') resolve()
  }
  const subscription = engine.events.subscribe(
    { after: engine.events.head, sessionId, types: ENDS },
    look,
    reject,
  )
  const timer = setTimeout(resolve, timeoutMs).unref()
  look()
  await promise.finally(() => {
    clearTimeout(timer)
    subscription.close()
  })
}
