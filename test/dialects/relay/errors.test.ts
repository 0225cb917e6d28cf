import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as Anthropic from '@anthropic-ai/sdk'
import * as OpenAI from 'openai'
import { clientKind, failureAnswer } from '../../../src/dialects/relay/errors.ts'
import { type FailureKind, failureOf, invalid, RelayFailure } from '../../../src/relay/failure.ts'
import { clientsOf } from '../../relay/sdk.ts'

const ask = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hi' }] }
const capped = new RelayFailure(402, 'billing_error', 'Monthly usage cap reached (5001 / 5000).', {
  extra: { code: 'cap_exceeded', tier: 'solo', used: 5001, cap: 5000 },
})

/** Both SDKs against this failure, answered as their own headers call for, and how often they asked. */
async function asking(t: Parameters<typeof clientsOf>[0], failure: RelayFailure) {
  let asked = 0
  const clients = await clientsOf(t, (request, response) => {
    asked++
    const { status, headers, body } = failureAnswer(
      failure,
      clientKind(request.headers, request.url!),
      'req-1',
    )
    response.writeHead(status, { ...headers, 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  return {
    anthropic: await thrownBy(clients.anthropic.messages.create(ask)),
    openai: await thrownBy(clients.openai.chat.completions.create(ask)),
    asked,
  }
}

async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail('nothing was thrown')
}

test('plain clients get a flat text and the keys beside it', () => {
  const { status, body, headers } = failureAnswer(capped, 'plain', 'req-1')
  assert.equal(status, 402)
  assert.deepEqual(body, {
    error: 'Monthly usage cap reached (5001 / 5000).',
    code: 'cap_exceeded',
    tier: 'solo',
    used: 5001,
    cap: 5000,
  })
  assert.deepEqual(headers, { 'request-id': 'req-1', 'x-request-id': 'req-1' })
})

test('each SDK opens its own envelope', async (t) => {
  const { anthropic, openai } = await asking(t, capped)
  assert.ok(anthropic instanceof Anthropic.APIError)
  assert.equal(anthropic.status, 402)
  assert.equal(anthropic.requestID, 'req-1')
  assert.deepEqual(anthropic.error, {
    type: 'error',
    error: {
      code: 'cap_exceeded',
      tier: 'solo',
      used: 5001,
      cap: 5000,
      type: 'billing_error',
      message: 'Monthly usage cap reached (5001 / 5000).',
    },
    request_id: 'req-1',
  })
  assert.ok(openai instanceof OpenAI.APIError)
  assert.equal(openai.code, 'cap_exceeded')
  assert.equal(openai.type, 'billing_error')
  assert.equal(openai.requestID, 'req-1')
  assert.match(openai.message, /usage cap/)
})

test('the field that is wrong is the param of OpenAI', async (t) => {
  const { anthropic, openai } = await asking(
    t,
    invalid('messages.0.role', '`messages.0.role` must be `user`'),
  )
  assert.ok(anthropic instanceof Anthropic.BadRequestError)
  assert.ok(openai instanceof OpenAI.BadRequestError)
  assert.equal(openai.param, 'messages.0.role')
  assert.equal(openai.code, null)
})

test('statuses are the classes that the SDKs know', async (t) => {
  const classes: [number, FailureKind, unknown, unknown][] = [
    [401, 'authentication_error', Anthropic.AuthenticationError, OpenAI.AuthenticationError],
    [403, 'permission_error', Anthropic.PermissionDeniedError, OpenAI.PermissionDeniedError],
    [404, 'not_found_error', Anthropic.NotFoundError, OpenAI.NotFoundError],
    [413, 'request_too_large', Anthropic.APIError, OpenAI.APIError],
    [500, 'api_error', Anthropic.InternalServerError, OpenAI.InternalServerError],
  ]
  for (const [status, kind, ofAnthropic, ofOpenAi] of classes) {
    const { anthropic, openai } = await asking(t, new RelayFailure(status, kind, 'no'))
    assert.ok(anthropic instanceof (ofAnthropic as typeof Error), `${status}`)
    assert.ok(openai instanceof (ofOpenAi as typeof Error), `${status}`)
    assert.equal((anthropic as { type?: string }).type, kind)
  }
})

test('SDKs try again when that may help, and not when it cannot', async (t) => {
  const soon = await asking(t, new RelayFailure(529, 'overloaded_error', 'busy', { retryAfterMs: 5 }))
  assert.equal(soon.asked, 4)
  const never = await asking(t, new RelayFailure(503, 'api_error', 'there is no agent'))
  assert.equal(never.asked, 2)
  const late = await asking(t, new RelayFailure(429, 'rate_limit_error', 'later', { retryAfterMs: 300_000 }))
  assert.equal(late.asked, 2)
})

test('when to try again', () => {
  const headersOf = (status: number, retryAfterMs: number | null): Record<string, string> =>
    failureAnswer(new RelayFailure(status, 'api_error', 'x', { retryAfterMs }), 'plain', 'r').headers
  assert.equal(headersOf(429, 1_500)['retry-after'], '2')
  assert.equal(headersOf(429, 1_500)['retry-after-ms'], '1500')
  assert.equal(headersOf(529, null)['retry-after'], '2')
  assert.equal(headersOf(503, null)['x-should-retry'], 'false')
  assert.equal(headersOf(409, null)['x-should-retry'], 'false')
  assert.equal(headersOf(400, null)['x-should-retry'], undefined)
  assert.equal(headersOf(429, 300_000)['retry-after'], '300')
  assert.equal(headersOf(429, 300_000)['x-should-retry'], 'false')
})

test('whose client it is', () => {
  const sdk = { 'x-stainless-lang': 'js' }
  const version = { 'anthropic-version': '2023-06-01' }
  assert.equal(clientKind({}, '/v1/messages'), 'plain')
  assert.equal(clientKind({}, '/v1/settings'), 'plain')
  assert.equal(clientKind(version, '/v1/messages'), 'anthropic')
  assert.equal(clientKind(sdk, '/v1/messages'), 'anthropic')
  assert.equal(clientKind({ 'x-api-key': 'k' }, '/v1/messages/count_tokens'), 'anthropic')
  // Whoever has written the client: these routes are OpenAI's.
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/models/x']) {
    assert.equal(clientKind({}, path), 'openai', path)
    assert.equal(clientKind({ authorization: 'Bearer k' }, path), 'openai', path)
  }
  assert.equal(clientKind(sdk, '/v1/chat/completions'), 'openai')
  assert.equal(clientKind({ ...sdk, ...version }, '/v1/models'), 'anthropic')
  assert.equal(clientKind(sdk, '/v1/models/x'), 'openai')
})

test('what nobody foresaw is not told', () => {
  const failure = failureOf(new TypeError('secret path'))
  assert.equal(failure.status, 500)
  assert.equal(failure.message, 'internal error')
  assert.equal(failureOf(capped), capped)
})
