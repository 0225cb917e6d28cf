import assert from 'node:assert/strict'
import { connect as connectSocket } from 'node:net'
import { describe, test } from 'node:test'
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import * as openai from 'openai'
import { chatting, type Json, nobodyLeft, saying, sharedRelay } from './rig.ts'
import { until } from '../../../support/wait.ts'

const relay = await sharedRelay()

/** What the model fails with, and what the SDKs make of it; null where the other SDK has nothing of its own to show. */
const FAILURES = [
  [400, 400, BadRequestError, openai.BadRequestError, 'invalid_request_error'],
  [401, 401, AuthenticationError, openai.AuthenticationError, 'authentication_error'],
  [402, 402, APIError, null, 'billing_error'],
  [403, 403, PermissionDeniedError, null, 'permission_error'],
  [404, 404, NotFoundError, null, 'not_found_error'],
  [413, 413, APIError, null, 'request_too_large'],
  [418, 400, BadRequestError, null, 'invalid_request_error'],
  [429, 429, RateLimitError, openai.RateLimitError, 'rate_limit_error'],
  [500, 500, InternalServerError, null, 'api_error'],
  [503, 503, InternalServerError, null, 'api_error'],
  [529, 529, InternalServerError, openai.InternalServerError, 'overloaded_error'],
] as const

describe('a model that fails', () => {
  const one = relay.anthropic({ sticky: 'fails' })
  const other = relay.openai({ sticky: 'fails' })
  for (const [given, status, Class, OpenAiClass, kind] of FAILURES) {
    test(`with ${given} is ${status}${OpenAiClass ? ' to both SDKs' : ''}`, async () => {
      await assert.rejects(one.messages.create(saying(`[[fail ${given}]]`)), (error) => {
        assert.ok(error instanceof Class, String(error))
        assert.equal(error.status, status)
        assert.equal((error.error as { error: Json }).error['type'], kind)
        assert.ok(error.requestID)
        return true
      })
      if (OpenAiClass === null) return
      await assert.rejects(other.chat.completions.create(chatting(`[[fail ${given}]]`)), (error) => {
        assert.ok(error instanceof OpenAiClass, String(error))
        assert.deepEqual([error.status, error.type], [status, kind])
        return true
      })
    })
  }

  test('before the first word has its status also in a stream', async () => {
    await assert.rejects(one.messages.stream(saying('[[fail 529]]')).finalMessage(), { status: 529 })
    const asked = other.chat.completions.create({ ...chatting('[[fail 429]]'), stream: true })
    await assert.rejects(asked, openai.RateLimitError)
  })

  test('is a text for plain clients', async () => {
    const { status, body, headers } = await relay.post('/v1/messages', saying('[[fail 429]]'))
    assert.equal(status, 429)
    assert.equal(typeof body['error'], 'string')
    assert.ok(Number(headers.get('retry-after')) >= 1)
  })

  test('after the first word is an error in the stream', async () => {
    const heard: string[] = []
    const stream = one.messages.stream(saying('[[sayfail 529 so far]]'))
    stream.on('text', (text) => heard.push(text))
    await assert.rejects(stream.finalMessage(), (error) => {
      assert.ok(error instanceof APIError)
      assert.match(error.message, /overloaded_error/)
      return true
    })
    assert.equal(heard.join(''), 'so far')
    const chunks = await other.chat.completions.create({
      ...chatting('[[sayfail 529 so far]]'),
      stream: true,
    })
    await assert.rejects(async () => {
      for await (const _ of chunks);
    }, openai.APIError)
  })

  test('after the first word is a status where nothing was sent yet', async () => {
    await assert.rejects(one.messages.create(saying('[[sayfail 529 so far]]')), { status: 529 })
  })

  test('is in the records, with its reason', async () => {
    const last = (await relay.calls()).at(-1)!
    assert.equal(last['status'], 'error')
    assert.match(String(last['error']), /529/)
    assert.deepEqual([last['input_tokens'], last['output_tokens'], last['cost_avoided_usd']], [0, 0, 0])
  })
})

/** How often the relay was called meanwhile. */
async function attempts(call: () => Promise<unknown>): Promise<number> {
  const before = (await relay.calls()).length
  await assert.rejects(call)
  return (await relay.calls()).length - before
}

describe('SDKs try again', () => {
  const eager = relay.anthropic({ sticky: 'again', maxRetries: 1 })

  test('as often as they are told where it may help', async () => {
    assert.equal(await attempts(() => eager.messages.create(saying('[[fail 529]]'))), 2)
    const other = relay.openai({ sticky: 'again', maxRetries: 1 })
    assert.equal(await attempts(() => other.chat.completions.create(chatting('[[fail 429]]'))), 2)
  })

  test('not at all where it does not', async () => {
    for (const status of [400, 401, 404]) {
      assert.equal(await attempts(() => eager.messages.create(saying(`[[fail ${status}]]`))), 1)
    }
  })
})

describe('a client that goes', () => {
  const status = async (): Promise<Json> => (await relay.calls()).at(-1)!

  test('stops its turn, and its session is free', async () => {
    const client = relay.anthropic({ sticky: 'goes' })
    const stream = client.messages.stream(saying('[[drip 5000 20]]'))
    for await (const event of stream) if (event.type === 'content_block_delta') break
    stream.abort()
    await until(async () => (await status())['status'] === 'error')
    const message = await client.messages.create(saying('[[say free]]'))
    assert.deepEqual(message.content, [{ type: 'text', text: 'free' }])
  })

  test('before the answer begins stops it as well', async () => {
    const before = await relay.active()
    const gone = new AbortController()
    const asked = relay.anthropic().messages.create(saying('[[hang]]'), { signal: gone.signal })
    await until(async () => (await relay.active()) > before)
    gone.abort()
    await assert.rejects(asked)
    await nobodyLeft(relay, before)
  })

  test('in the middle of its request starts nothing', async () => {
    const before = (await relay.calls()).length
    const { hostname, port } = new URL(relay.url)
    const socket = connectSocket(Number(port), hostname)
    socket.write(
      'POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n' +
        'content-length: 1000\r\n\r\n{"model":"m"',
    )
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.destroy()
    await relay.get('/v1/health')
    assert.equal((await relay.calls()).length, before)
  })

  test('lets those go on who wait for the same session', async () => {
    const client = relay.anthropic({ sticky: 'queue' })
    const stream = client.messages.stream(saying('[[drip 5000 20]]'))
    for await (const event of stream) if (event.type === 'content_block_delta') break
    const gone = new AbortController()
    const impatient = client.messages.create(saying('[[say never]]'), { signal: gone.signal })
    const patient = client.messages.create(saying('[[say at last]]'))
    gone.abort()
    await assert.rejects(impatient)
    stream.abort()
    assert.deepEqual((await patient).content, [{ type: 'text', text: 'at last' }])
  })
})
