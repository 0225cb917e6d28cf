import type { PendingApproval } from './approval.ts'
import type { HeldCall } from './call.ts'
import type { Drafts } from './draft.ts'
import type { AgentHost } from './ports.ts'
import type { Session } from './session.ts'

interface HandoverDeps {
  drafts: Drafts
  host: AgentHost
  warn: (message: string, error: unknown) => void
}

/** Brings agents what they wait for, and notes that they have it. */
export class Handover {
  readonly #drafts: Drafts
  readonly #host: AgentHost
  readonly #warn: HandoverDeps['warn']
  /** Decisions of this turn of the event loop, by session. */
  readonly #delivered = new Map<string, { ids: string[]; noted: Promise<unknown> }>()

  constructor({ drafts, host, warn }: HandoverDeps) {
    this.#drafts = drafts
    this.#host = host
    this.#warn = warn
  }

  /** Decisions on all of a session's approvals, or on one. */
  decisions(session: Session | null, approvalId?: string): void {
    for (const approval of session?.approvals ?? []) {
      if (approvalId !== undefined && approval.id !== approvalId) continue
      this.#decision(session!.id, approval).catch((error) =>
        this.#warn(`handing over the decision on ${approval.tool}`, error),
      )
    }
  }

  /** Results of all calls that a session's client has carried out, or of one. */
  results(session: Session | null, callId?: string): void {
    for (const call of session?.calls ?? []) {
      if (!call.result || (callId !== undefined && call.callId !== callId)) continue
      this.#result(session!.id, call).catch((error) =>
        this.#warn(`bringing the result of ${call.tool}`, error),
      )
    }
  }

  async #decision(sessionId: string, approval: PendingApproval): Promise<void> {
    const { decision } = approval
    if (!decision || decision.behavior === 'cancelled') return
    const written = await this.#host.tell(sessionId, { kind: 'decision', approval, decision })
    if (written) await this.#noteDelivered(sessionId, approval.id)
  }

  /** Decisions that are written at the same time are noted in one commit. */
  #noteDelivered(sessionId: string, approvalId: string): Promise<unknown> {
    const known = this.#delivered.get(sessionId)
    known?.ids.push(approvalId)
    if (known) return known.noted
    const ids = [approvalId]
    const noted = new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.#delivered.delete(sessionId)
      const draft = this.#drafts.of(sessionId)
      draft.add(...ids.map((id) => ({ type: 'approval.delivered' as const, approvalId: id })))
      return draft.commit()
    })
    this.#delivered.set(sessionId, { ids, noted })
    return noted
  }

  async #result(sessionId: string, call: HeldCall): Promise<void> {
    if (!(await this.#host.tell(sessionId, { kind: 'result', call }))) return
    const draft = this.#drafts.of(sessionId)
    draft.add({ type: 'call.delivered', callId: call.callId })
    await draft.commit()
  }
}
