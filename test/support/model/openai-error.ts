const ERRORS: Record<number, { type: string; code: string | null }> = {
  400: { type: 'invalid_request_error', code: null },
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  403: { type: 'invalid_request_error', code: 'unsupported_country_region_territory' },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
}

/** An error as both of OpenAI's APIs word it. */
export function openaiError(status: number) {
  const { type, code } =
    ERRORS[status] ?? (status < 500 ? ERRORS[400]! : { type: 'server_error', code: null })
  return { error: { message: `scripted ${status}`, type, param: null, code } }
}

/** Clients that try again shall do so at once. */
export function openaiHeaders(status: number): Record<string, string> {
  const again = status === 429 || status >= 500
  return { 'x-request-id': `req_${status}`, ...(again && { 'retry-after-ms': '10' }) }
}
