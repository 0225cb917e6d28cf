import type { RequestPermissionOutcome } from '@agentclientprotocol/sdk/unstable'
import { answerOf, elsewhere, requestsFor, type Request } from './permission.ts'
import type { UserDecision, Asked } from './port.ts'

export interface AskingParts {
  cwd: string
  /** Puts it before the user. The signal takes it back. */
  ask(request: Request, signal: AbortSignal): Promise<RequestPermissionOutcome>
  /** The user's answer counts. */
  decide(approvalId: string, decision: UserDecision): Promise<void>
  tell(text: string): Promise<void>
}

export interface Asking {
  ask(asked: Asked): void
  /** It does not wait any more: it was answered here or elsewhere. */
  takeBack(approvalId: string): void
  close(): void
}

/** Puts questions before the user, and brings the answers back. */
export function createAsking(parts: AskingParts): Asking {
  /** What is before the user now. */
  const shown = new Map<string, AbortController>()
  return {
    ask(asked) {
      const taken = new AbortController()
      shown.set(asked.id, taken)
      put(parts, asked, taken.signal).catch(() => {}) // the editor is gone
    },
    takeBack(approvalId) {
      shown.get(approvalId)?.abort()
      shown.delete(approvalId)
    },
    close() {
      for (const taken of shown.values()) taken.abort()
      shown.clear()
    },
  }
}

async function put(parts: AskingParts, asked: Asked, signal: AbortSignal): Promise<void> {
  const requests = requestsFor(asked, parts.cwd)
  const outcomes: RequestPermissionOutcome[] = []
  try {
    for (const request of requests) {
      const outcome = await parts.ask(request, signal)
      outcomes.push(outcome)
      if (outcome.outcome === 'cancelled' || outcome.optionId === 'reject') break
    }
    const answer = requests.length > 0 ? answerOf(asked, outcomes) : null
    if (answer) return await parts.decide(asked.id, answer)
  } catch (error) {
    // Somebody was faster, or there is nothing to decide any more.
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'approval_resolved' || code === 'approval_not_found') return
  }
  // Whoever cancels the turn needs no advice about its questions.
  if (!signal.aborted && outcomes.at(-1)?.outcome !== 'cancelled') await parts.tell(elsewhere(asked))
}
