import type { RelayFailure } from '../../relay/failure.ts'

/** OpenAI's envelope of an error. Its SDKs look into `error`; whoever knows the relay looks beside it. */
export function failureBody({ kind, message, field, extra }: RelayFailure): object {
  return { error: { code: null, ...extra, message, type: kind, param: field || null }, ...extra }
}
