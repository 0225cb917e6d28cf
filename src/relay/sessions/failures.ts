import type { CorralError } from '../../core/error.ts'
import type { Failure } from '../../core/turn.ts'
import { KINDS, RelayFailure, type Verdict } from '../failure.ts'

/** A status of a model's answer as ours; those that no SDK expects become 500. */
export function failureFor(status: number, message: string, verdict: Verdict | null = null): RelayFailure {
  const known = KINDS[status] ? status : status >= 400 && status < 500 ? 400 : 500
  return new RelayFailure(known, KINDS[known]!, message, { verdict })
}

/** There is nobody to ask. `name` is what the caller knows its session as, or the id of its call. */
export function notAcquired(problem: string, name: string, more: Record<string, unknown> = {}): RelayFailure {
  const extra = { session_id: name, ...more }
  return new RelayFailure(500, 'api_error', `provider acquire failed: ${problem}`, { extra })
}

/** Why a turn failed, as the caller gets to hear it. */
export function failureOf({ code, message, detail }: Failure, name: string): RelayFailure {
  if (code === 'not_signed_in') return failureFor(401, message)
  if (code === 'agent_missing') return notAcquired(message, name)
  const status = detail?.['status']
  return failureFor(typeof status === 'number' ? status : 500, message)
}

/** Why the engine did not take a command, as the caller gets to hear it. */
export function refusalOf(error: CorralError, name: string): RelayFailure {
  switch (error.code) {
    case 'agent_missing':
    case 'agent_unknown':
      return notAcquired(error.message, name)
    case 'stopping':
    case 'storage':
      return failureFor(503, error.message)
    case 'unsupported':
      return failureFor(400, error.message, 'elsewhere')
    case 'invalid':
      return failureFor(400, error.message)
    case 'queue_full':
      return failureFor(529, error.message, 'elsewhere')
    // It was removed while the call began.
    case 'session_not_found':
      return GONE()
    default:
      return failureFor(500, error.message)
  }
}

/** Somebody else has stopped the turn, or removed its session: whoever that was wants no answer from anybody. */
export const GONE = (): RelayFailure => failureFor(500, 'The turn was interrupted from elsewhere', 'final')
