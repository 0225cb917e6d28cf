import type { RequestPermissionOutcome } from '@agentclientprotocol/sdk/unstable'
import { answerOf, elsewhere, requestsFor, type Request } from './permission.ts'
import type { Answer, Asked } from './port.ts'

export interface AskingParts {
  cwd: string
  /** Puts it before the user. The signal takes it back. */
  ask(request: Request, signal: AbortSignal): Promise<RequestPermissionOutcome>
  /** The user's answer counts. */
  decide(approvalId: string, answer: Answer): Promise<void>
  tell(text: string): Promise<void>
}

export interface Asking {
  requested(asked: Asked): void
  /** Here or elsewhere: it does not wait any more. */
  resolved(approvalId: string): void
  /** Nothing is asked before this. */
  release(): void
  close(): void
}

/** Brings open approvals to the user, each once, and the answers back. */
export function createAsking({ cwd, ask, decide, tell }: AskingParts): Asking {
  const open = new Map<string, { asked: Asked; taken: AbortController }>()
  let held = true

  async function put(asked: Asked, signal: AbortSignal): Promise<void> {
    const requests = requestsFor(asked, cwd)
    const outcomes: RequestPermissionOutcome[] = []
    try {
      for (const request of requests) {
        const outcome = await ask(request, signal)
        outcomes.push(outcome)
        if (outcome.outcome === 'cancelled' || outcome.optionId === 'reject') break
      }
      const answer = requests.length > 0 ? answerOf(asked, outcomes) : null
      if (answer) return await decide(asked.id, answer)
    } catch (error) {
      // Somebody was faster, or there is nothing to decide any more.
      const code = error instanceof Error && 'code' in error ? error.code : null
      if (code === 'approval_resolved' || code === 'approval_not_found') return
    }
    // Whoever cancels the turn needs no advice about its questions.
    if (!signal.aborted && outcomes.at(-1)?.outcome !== 'cancelled') await tell(elsewhere(asked))
  }

  function start({ asked, taken }: { asked: Asked; taken: AbortController }): void {
    put(asked, taken.signal).catch(() => {}) // the editor is gone
  }

  return {
    requested(asked) {
      if (open.has(asked.id)) return
      const entry = { asked, taken: new AbortController() }
      open.set(asked.id, entry)
      if (!held) start(entry)
    },
    resolved(approvalId) {
      open.get(approvalId)?.taken.abort()
      open.delete(approvalId)
    },
    release() {
      held = false
      for (const entry of open.values()) start(entry)
    },
    close() {
      for (const { taken } of open.values()) taken.abort()
      open.clear()
    },
  }
}
