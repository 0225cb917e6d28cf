import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, test } from 'node:test'
import { BadRequestError } from '@anthropic-ai/sdk'
import { BadRequestError as OpenAiBadRequestError } from 'openai'
import { chatting, type Json, PNG, saying, sharedRelay, TOOLS } from './rig.ts'

const relay = await sharedRelay()

const image = (source: Json): Json => saying([{ type: 'image', source } as never])
const result = (id: string): Json => ({ type: 'tool_result', tool_use_id: id, content: 'x' })
const call = (id: string): Json => ({ type: 'tool_use', id, name: 'look', input: {} })
const talk = (...messages: Json[]): Json => ({ ...saying(''), messages })
const user = (content: unknown): Json => ({ role: 'user', content })
const assistant = (content: unknown): Json => ({ role: 'assistant', content })
const without = (name: string, body: Json): Json =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))

const hello: Json = saying('hello')
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

/** What is wrong, the body, and the place that the refusal names. */
const MESSAGES: [what: string, body: unknown, names: RegExp][] = [
  ['no messages', without('messages', hello), /^invalid request body: missing field `messages`$/],
  ['no model', without('model', hello), /missing field `model`/],
  ['no max_tokens', without('max_tokens', hello), /missing field `max_tokens`/],
  ['no object', [], /JSON object/],
  ['null', null, /JSON object/],
  ['a model that is no text', { ...hello, model: 5 }, /`model`/],
  ['an empty model', { ...hello, model: '' }, /`model`/],
  ['a model without end', { ...hello, model: 'm'.repeat(257) }, /`model`/],
  ['max_tokens of zero', { ...hello, max_tokens: 0 }, /`max_tokens`/],
  ['max_tokens in words', { ...hello, max_tokens: 'many' }, /`max_tokens`/],
  ['half a token', { ...hello, max_tokens: 1.5 }, /`max_tokens`/],
  ['messages that are no list', { ...hello, messages: 'hello' }, /`messages`/],
  ['no message at all', talk(), /`messages`/],
  ['a message that is none', talk('hello' as never), /`messages\.0/],
  ['an unknown role', talk({ role: 'wizard', content: 'x' }), /`messages\.0\.role`/],
  ['no role', talk({ content: 'x' }), /`messages\.0\.role`/],
  ['no content', talk({ role: 'user' }), /`messages\.0\.content`/],
  ['empty content', talk(user('')), /`messages\.0\.content`/],
  ['content that is a number', talk(user(5)), /`messages\.0\.content`/],
  ['an unknown block', talk(user([{ type: 'smell' }])), /`messages\.0\.content\.0\.type`/],
  ['a text without text', talk(user([{ type: 'text' }])), /`messages\.0\.content\.0\.text`/],
  ['an answer begun for the model', talk(user('x'), assistant('y')), /`messages\.1`/],
  ['a stream that is a word', { ...hello, stream: 'yes' }, /`stream`/],
  ['stop sequences that are no list', { ...hello, stop_sequences: 'x' }, /`stop_sequences`/],
  ['an empty stop sequence', { ...hello, stop_sequences: [''] }, /`stop_sequences\.0`/],
  ['a temperature of ten', { ...hello, temperature: 10 }, /`temperature`/],
  ['a system prompt that is a number', { ...hello, system: 5 }, /`system`/],
  ['an image in a system prompt', { ...hello, system: [{ type: 'image' }] }, /`system\.0\.type`/],
  ['nesting without end', { ...hello, metadata: { deep: deep(200) } }, /nested/],
  [
    'bad base64',
    image({ type: 'base64', media_type: 'image/png', data: 'no!' }),
    /source\.data` must be base64/,
  ],
  ['cut base64', image({ type: 'base64', media_type: 'image/png', data: PNG.slice(1) }), /source\.data/],
  ['an unknown image', image({ type: 'base64', media_type: 'image/bmp', data: PNG }), /source\.media_type/],
  ['an image elsewhere', image({ type: 'url', url: 'http://127.0.0.1/x.png' }), /nothing is fetched/],
  ['a file elsewhere', image({ type: 'file', file_id: 'f' }), /nothing is fetched/],
  ['an orphan result', talk(user([result('toolu_1')])), /`messages\.0\.content\.0\.tool_use_id`/],
  [
    'a result of another call',
    talk(user('x'), assistant([call('a')]), user([result('b')])),
    /`messages\.2\.content\.0\.tool_use_id`/,
  ],
  ['a call without a result', talk(user('x'), assistant([call('a')]), user('y')), /without a result/],
  [
    'two calls of one id',
    talk(user('x'), assistant([call('a'), call('a')]), user([result('a')])),
    /another call/,
  ],
  ['a tool without a name', { ...hello, tools: [{ input_schema: { type: 'object' } }] }, /`tools\.0\.name`/],
  ['a tool with a bad name', { ...hello, tools: [{ ...TOOLS[0], name: 'a b' }] }, /`tools\.0\.name`/],
  ['a tool without a schema', { ...hello, tools: [{ name: 'look' }] }, /`tools\.0\.input_schema`/],
  ['two tools of one name', { ...hello, tools: [TOOLS[0], TOOLS[0]] }, /`tools\.1`/],
  ['a provider’s tool', { ...hello, tools: [{ type: 'bash_20250124', name: 'bash' }] }, /`tools\.0\.type`/],
  ['a choice of an unknown tool', { ...hello, tool_choice: { type: 'tool', name: 'x' } }, /`tool_choice`/],
  ['a choice without tools', { ...hello, tool_choice: { type: 'any' } }, /`tool_choice`/],
]

const chat: Json = chatting('hello')
const said = (...messages: Json[]): Json => ({ ...chat, messages })
const picture = (url: string): Json => said(user([{ type: 'image_url', image_url: { url } }]))

const CHAT: [what: string, body: unknown, names: RegExp, param: string][] = [
  ['no messages', without('messages', chat), /messages/, 'messages'],
  ['no model', without('model', chat), /model/, 'model'],
  ['an unknown role', said({ role: 'wizard', content: 'x' }), /role/, 'messages.0.role'],
  ['a remote image', picture('https://example.com/x.png'), /data: URL/, 'messages.0.content.0.image_url.url'],
  [
    'an image of this machine',
    picture('file:///etc/passwd'),
    /data: URL/,
    'messages.0.content.0.image_url.url',
  ],
  ['bad base64', picture('data:image/png;base64,no!'), /base64/, 'messages.0.content.0.image_url.url'],
  ['several answers', { ...chat, n: 2 }, /`n`/, 'n'],
  ['functions of old', { ...chat, functions: [] }, /`functions`/, 'functions'],
  ['a function call of old', { ...chat, function_call: 'auto' }, /`function_call`/, 'function_call'],
  ['audio', { ...chat, audio: { voice: 'x', format: 'wav' } }, /`audio`/, 'audio'],
  ['speech', { ...chat, modalities: ['text', 'audio'] }, /`modalities\.1`/, 'modalities.1'],
  ['log probabilities', { ...chat, logprobs: true }, /`logprobs`/, 'logprobs'],
  ['a choice of an unknown function', { ...chat, tool_choice: 'required' }, /tool_choice/, 'tool_choice'],
  [
    'arguments that are no JSON',
    said(
      user('x'),
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ),
    /arguments/,
    'messages.1.tool_calls.0.function.arguments',
  ],
  [
    'an orphan result',
    said(user('x'), { role: 'tool', tool_call_id: 'a', content: 'x' }),
    /tool_call_id/,
    'messages.1.tool_call_id',
  ],
]

describe('POST /v1/messages refuses', () => {
  for (const [what, body, names] of MESSAGES) {
    test(what, async () => {
      const { status, body: answer } = await relay.post('/v1/messages', body)
      assert.equal(status, 400)
      assert.match(String(answer['error']), names)
    })
  }

  test('in the envelope of the SDK', async () => {
    const client = relay.anthropic({ maxRetries: 2 })
    await assert.rejects(client.messages.create(without('max_tokens', hello) as never), (error) => {
      assert.ok(error instanceof BadRequestError)
      const body = error.error as { type: string; error: Json; request_id: string }
      assert.deepEqual([body.type, body.error['type']], ['error', 'invalid_request_error'])
      assert.equal(body.request_id, error.requestID)
      return true
    })
  })

  test('as count_tokens does', async () => {
    const { status, body } = await relay.post('/v1/messages/count_tokens', { model: 'm' })
    assert.equal(status, 400)
    assert.match(String(body['error']), /missing field `messages`/)
  })
})

describe('POST /v1/chat/completions refuses', () => {
  for (const [what, body, names, param] of CHAT) {
    test(what, async () => {
      const { status, body: answer } = await relay.post('/v1/chat/completions', body, {
        'x-stainless-lang': 'js',
      })
      assert.equal(status, 400)
      const error = answer['error'] as Json
      assert.match(String(error['message']), names)
      assert.deepEqual([error['type'], error['param']], ['invalid_request_error', param])
    })
  }

  test('in the envelope of the SDK', async () => {
    await assert.rejects(relay.openai().chat.completions.create({ ...chatting('x'), n: 3 }), (error) => {
      assert.ok(error instanceof OpenAiBadRequestError)
      assert.deepEqual([error.param, error.type], ['n', 'invalid_request_error'])
      return true
    })
  })
})

const JSON_TYPE = { 'content-type': 'application/json' }

describe('every route refuses', () => {
  const raw = (headers: Record<string, string>, body: string | Uint8Array) =>
    relay.send('POST', '/v1/messages', { headers, body: body as never })

  test('what is not JSON', async () => {
    for (const body of ['{', '', 'hello', '{"a":1}}']) {
      const { status, body: answer } = await raw(JSON_TYPE, body)
      assert.equal(status, 400)
      assert.match(String(answer['error']), /JSON/)
    }
  })

  test('another content type, or none', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-type': 'multipart/form-data' }]) {
      const { status, body } = await raw(headers, JSON.stringify(hello))
      assert.equal(status, 415)
      assert.match(String(body['error']), /content-type/)
    }
    assert.equal((await raw({ 'content-type': '' }, JSON.stringify(hello))).status, 415)
  })

  test('33 MiB, and says so', async () => {
    const { status, body } = await raw(JSON_TYPE, Buffer.alloc(33 * 1024 * 1024, 0x20))
    assert.equal(status, 413)
    assert.match(String(body['error']), /larger than/)
  })

  test('33 MiB that were announced first, in the envelope of the SDK', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const size = 33 * 1024 * 1024
    const req = httpRequest(`${relay.url}/v1/messages`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'content-length': size, expect: '100-continue', 'anthropic-version': '1' },
    })
    req.on('error', reject)
    req.on('response', (res) => {
      let text = ''
      res.on('data', (chunk: Buffer) => (text += chunk.toString()))
      res.on('end', () => resolve({ status: res.statusCode!, text }))
    })
    req.flushHeaders()
    const { status, text } = await promise
    req.destroy()
    assert.equal(status, 413)
    const { error } = JSON.parse(text) as { error: Json }
    assert.equal(error['type'], 'request_too_large')
  })

  /** fetch does not let these headers through. */
  function asked(headers: Record<string, string>): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const req = httpRequest(`${relay.url}/v1/messages`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
    })
    req.on('error', reject)
    req.on('response', (res) => {
      res.resume()
      resolve(res.statusCode!)
    })
    req.end(JSON.stringify(hello))
    return promise
  }

  test('web pages and foreign names', async () => {
    for (const headers of [
      { host: 'evil.example' },
      { host: 'evil.example:7421' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      assert.equal(await asked(headers), 403, JSON.stringify(headers))
    }
  })

  test('an id of more than 128 characters, in a header and in a path', async () => {
    const long = 'x'.repeat(129)
    const { status, body } = await relay.post('/v1/messages', hello, { 'x-ir-session-id': long })
    assert.equal(status, 400)
    assert.match(String(body['error']), /X-IR-Session-ID/)
    assert.equal((await relay.post(`/v1/sessions/${long}/reset`)).status, 400)
    assert.equal((await relay.send('DELETE', `/v1/sessions/${long}`)).status, 400)
  })

  test('unknown paths and methods', async () => {
    const unknown = await relay.get('/v1/nothing')
    assert.equal(unknown.status, 404)
    assert.match(String(unknown.body['error']), /\/v1\/nothing/)
    assert.equal((await relay.get('/v1/messages')).status, 405)
  })

  test('pages and limits that are none', async () => {
    assert.equal((await relay.get('/v1/recent-calls?limit=many')).status, 400)
    assert.equal((await relay.get('/v1/events?after=-1')).status, 400)
  })
})

test('nobody was started for any of this', async () => {
  assert.equal(await relay.active(), 0)
  assert.deepEqual(await relay.calls(), [])
  const { events } = (await relay.get('/v1/events')).body as { events: Json[] }
  assert.ok(events.every(({ type }) => type !== 'session.created' && type !== 'turn.started'))
})
