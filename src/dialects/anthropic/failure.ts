import type { RelayFailure } from '../../relay/failure.ts'

/** Anthropic's envelope of an error. */
export function failureBody({ kind, message, extra }: RelayFailure, requestId: string): object {
  return { type: 'error', error: { ...extra, type: kind, message }, request_id: requestId }
}
