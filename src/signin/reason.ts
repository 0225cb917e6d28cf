import { CorralError } from '../core/error.ts'

/** Somebody wants the flow to end. */
export class Cancelled extends Error {}

/** RFC 6749 and RFC 8628 have words for these; people want others. */
const WORDS: Readonly<Record<string, string>> = {
  access_denied: 'access was denied',
  expired_token: 'the code has expired; start again',
  invalid_grant: 'the issuer does not accept the code or token (invalid_grant)',
  invalid_client: 'the issuer does not know this client (invalid_client)',
}

/**
 * Why a flow failed, in words for people. What the issuer itself has written is not passed on: only names of errors are, since
 * anything else may quote a secret.
 */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof CorralError || thrown instanceof Cancelled) return thrown.message
  const { name, code, error, cause } = thrown as Partial<Record<string, unknown>>
  if (typeof error === 'string') {
    return Object.hasOwn(WORDS, error) ? WORDS[error]! : `the issuer refused (${nameOnly(error)})`
  }
  if (name === 'TimeoutError') return 'the issuer did not answer in time'
  if (typeof code === 'string' && code.startsWith('OAUTH_'))
    return `what came back cannot be used (${nameOnly(code)})`
  if (!isNetworkTrouble(thrown)) return 'something went wrong on this side'
  const network = (cause as { code?: unknown } | undefined)?.code
  return `the issuer cannot be reached${typeof network === 'string' ? ` (${nameOnly(network)})` : ''}`
}

/** Whether the same request may succeed a little later. */
export function isNetworkTrouble(thrown: unknown): boolean {
  const { name } = thrown as { name?: unknown }
  return name === 'TimeoutError' || (thrown instanceof TypeError && thrown.message === 'fetch failed')
}

function nameOnly(text: string): string {
  return /^[\w.-]{1,64}$/.test(text) ? text : 'unknown error'
}
