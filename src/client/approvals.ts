import type { Api, ApprovalView, Decision } from './api.ts'
import type { NativeClient } from './calls.ts'
import { ConnectionLost, NativeError } from './link.ts'

type DecideParams = Api['approval.decide']['params']
type AllowParams = Extract<DecideParams, { behavior: 'allow' }>

export type AllowOptions = Omit<AllowParams, 'approvalId' | 'behavior' | 'by'>

/** How an approval was decided in the end. */
export interface Verdict {
  decision: Decision
  by: string
  /** False: somebody else was first, and it is their answer that counts. */
  counted: boolean
}

/** A question that an agent waits on, with what can be done about it. */
export interface Approval extends ApprovalView {
  allow(options?: AllowOptions): Promise<Verdict>
  /** The agent is told the comment, if it can hear it. */
  deny(comment?: string): Promise<Verdict>
  /** Answers a question or a plan with words. */
  respond(text: string): Promise<Verdict>
  /** Waits until somebody has answered it, from wherever. */
  settled(): Promise<Verdict>
}

export interface ApprovalOptions {
  sessionId?: string | undefined
  /** Ends the iteration. */
  signal?: AbortSignal | undefined
}

/** The daemon lists so many at once. */
const MAX_LISTED = 500

/**
 * Approvals that wait, then each new one, once. One that was answered while you were busy with another is left out. Nothing is
 * kept here for a slow reader but the ids of open ones: new ones wait in the log.
 */
export async function* openApprovals(
  client: NativeClient,
  by: string,
  options: ApprovalOptions = {},
): AsyncGenerator<Approval, void, undefined> {
  const { signal } = options
  /** Open ones that were handed out. */
  const known = new Set<string>()
  for (;;) {
    if (signal?.aborted) return
    try {
      return yield* followApprovals({ client, by, known, ...options })
    } catch (error) {
      if (signal?.aborted || isClosed(error)) return
      // The log has begun anew, or what came meanwhile is gone from it: what is open now is all there is to know.
      if (!(error instanceof NativeError) || error.code !== 'cursor_reset') throw error
    }
  }
}

interface Following extends ApprovalOptions {
  client: NativeClient
  by: string
  known: Set<string>
}

/** Throws `cursor_reset` when events are gone. */
async function* followApprovals({ client, by, known, sessionId, signal }: Following) {
  const of = sessionId === undefined ? {} : { sessionId }
  const stream = client.events({ ...of, types: ['approval.requested', 'approval.resolved'] })
  const stop = (): void => stream.close()
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()

  /** As it is when it is its turn. */
  async function* waiting(approvalId: string): AsyncGenerator<Approval, void, undefined> {
    if (known.has(approvalId)) return
    const view = await client.call('approval.get', { approvalId })
    if (view.decision !== null) return
    known.add(approvalId)
    yield approvalOf(client, by, view)
  }

  try {
    await stream.ready
    const { approvals } = await client.call('approval.list', { ...of, limit: MAX_LISTED })
    for (const { id } of approvals) yield* waiting(id)
    for await (const event of stream) {
      if (event.type === 'approval.resolved') known.delete(event.approvalId)
      if (event.type === 'approval.requested' && event.open) yield* waiting(event.approval.id)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stream.close()
  }
}

/** An iteration that was ended is no failure. */
function isClosed(error: unknown): boolean {
  return error instanceof ConnectionLost && error.code === 'closed'
}

function approvalOf(client: NativeClient, by: string, view: ApprovalView): Approval {
  const approvalId = view.id
  const decide = (params: DecideParams): Promise<Verdict> => decideOnce(client, { ...params, by })
  return {
    ...view,
    allow: (options = {}) => decide({ ...options, approvalId, behavior: 'allow' }),
    deny: (comment = '') => decide({ approvalId, behavior: 'deny', comment }),
    respond: (text) => decide({ approvalId, behavior: 'respond', text }),
    async settled() {
      for (;;) {
        const now = await client.call('approval.wait', { approvalId })
        const verdict = verdictOf(now, by)
        if (verdict) return verdict
      }
    },
  }
}

/** The first answer counts, so that one whose own answer was lost can be given again after a look. */
async function decideOnce(client: NativeClient, params: DecideParams & { by: string }): Promise<Verdict> {
  const { approvalId, by, behavior } = params
  for (;;) {
    try {
      const { decision } = await client.call('approval.decide', params)
      return { decision: decision!, by, counted: true }
    } catch (error) {
      if (error instanceof NativeError && error.code === 'approval_resolved') {
        const now = await client.call('approval.get', { approvalId })
        return { ...verdictOf(now, by)!, counted: false }
      }
      const isLost =
        (error instanceof ConnectionLost && error.code !== 'closed') ||
        (error instanceof NativeError && error.code === 'stopping')
      if (!isLost) throw error
    }
    const verdict = verdictOf(await client.call('approval.get', { approvalId }), by)
    if (verdict) return { ...verdict, counted: verdict.counted && verdict.decision.behavior === behavior }
  }
}

function verdictOf({ decision, decidedBy }: ApprovalView, by: string): Verdict | null {
  if (decision === null) return null
  return { decision, by: decidedBy ?? '', counted: decidedBy === by }
}
