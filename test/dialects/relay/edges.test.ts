import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { APIError, type OpenAI } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { routePath } from '../../../src/dialects/relay/paths.ts'
import { calling, chatting, type Json, saying, startRelay, textOf } from './conformance/rig.ts'

const relay = await startRelay()

const said = ({ choices }: OpenAI.ChatCompletion): string => choices[0]!.message.content ?? ''
const in64 = (text: string): string => `[[say64 ${Buffer.from(text).toString('base64')}]]`

describe('errors', () => {
  const wrong = { model: 'gpt-4o' }

  test('are in OpenAI’s envelope for every client of its routes', async () => {
    for (const headers of [{}, { authorization: 'Bearer x' }, { 'user-agent': 'curl/8' }]) {
      const { status, body } = await relay.post('/v1/chat/completions', wrong, headers)
      assert.equal(status, 400)
      const message = 'invalid request body: missing field `messages`'
      assert.deepEqual(body, {
        error: { message, type: 'invalid_request_error', param: 'messages', code: null },
      })
    }
    const { status, body } = await relay.post('/v1/chat/completions', chatting('[[fail 429]]'))
    assert.deepEqual([status, (body['error'] as Json)['type']], [429, 'rate_limit_error'])
  })

  test('also where the route is not served, and for a model that is not there', async () => {
    for (const path of ['/v1/responses', '/v1/embeddings', '/v1/completions']) {
      const { status, body } = await relay.post(path, wrong)
      assert.equal(status, 404, path)
      assert.match(String((body['error'] as Json)['message']), new RegExp(`No such route: POST ${path}`))
    }
    const { status, body } = await relay.get('/v1/models/nobody')
    assert.deepEqual([status, (body['error'] as Json)['code']], [404, 'model_not_found'])
  })

  test('of the other routes are a text, or Anthropic’s envelope for its clients', async () => {
    const plain = await relay.post('/v1/messages', wrong)
    assert.deepEqual(plain.body, { error: 'invalid request body: missing field `messages`' })
    const settings = await relay.send('PATCH', '/v1/settings', {
      headers: { 'content-type': 'application/json' },
      body: '{"agent":"nobody"}',
    })
    assert.equal(typeof settings.body['error'], 'string')
    for (const headers of [{ 'x-api-key': 'k' }, { 'anthropic-version': '2023-06-01' }] as Record<
      string,
      string
    >[]) {
      const { body } = await relay.post('/v1/messages', wrong, headers)
      assert.deepEqual([body['type'], (body['error'] as Json)['type']], ['error', 'invalid_request_error'])
    }
  })
})

describe('addresses that people configure', () => {
  for (const path of [
    '/v1/chat/completions/',
    '/v1/v1/chat/completions',
    '/chat/completions',
    '//v1/chat/completions',
    '/v1//chat/completions',
  ]) {
    test(`POST ${path}`, async () => {
      const { status, body } = await relay.post(path, chatting('[[say OK]]'))
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(said(body as unknown as OpenAI.ChatCompletion), 'OK')
    })
  }

  for (const path of ['/messages', '/v1/v1/messages', '/v1/messages/', '/v1/v1/messages?beta=true']) {
    test(`POST ${path}`, async () => {
      const { status, body } = await relay.post(path, saying('[[say OK]]'))
      assert.deepEqual([status, body['stop_reason']], [200, 'end_turn'])
    })
  }

  test('GET /models, and one of them', async () => {
    for (const path of ['/models', '/v1/models/', '/v1/v1/models']) {
      assert.equal((await relay.get(path)).body['object'], 'list', path)
    }
    assert.equal((await relay.get('/models/gpt-4o')).body['id'], 'gpt-4o')
  })

  test('are named in errors as they came, and a session’s name is not an address', async () => {
    const { status, body } = await relay.post('/v1/v1/nothing/')
    assert.deepEqual([status, body['error']], [404, 'No such route: POST /v1/v1/nothing/'])
    const reset = await relay.post('/v1/sessions/v1%2Fv1/reset')
    assert.equal(reset.body['session_id'], 'v1/v1')
  })
})

describe('compressed bodies', () => {
  const body = Buffer.from(JSON.stringify(saying('[[say OK]]')))
  const send = (encoding: string, bytes: Buffer) =>
    relay.send('POST', '/v1/messages', {
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body: new Uint8Array(bytes),
    })

  for (const [encoding, bytes] of [
    ['gzip', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['br', brotliCompressSync(body)],
    ['zstd', zstdCompressSync(body)],
    ['identity', body],
  ] as [string, Buffer][]) {
    test(encoding, async () => {
      assert.equal((await send(encoding, bytes)).body['stop_reason'], 'end_turn')
    })
  }

  test('few bytes that stand for many are refused as many are', async () => {
    const bomb = gzipSync(Buffer.alloc(33 * 1024 * 1024, 32))
    assert.ok(bomb.length < 100_000)
    const { status, body: answer } = await send('gzip', bomb)
    assert.equal(status, 413)
    assert.match(String(answer['error']), /larger than 33554432 bytes/)
  })

  test('what is not what it says, or is said in another way, is refused', async () => {
    assert.equal((await send('gzip', body)).status, 400)
    assert.equal((await send('gzip', gzipSync(body).subarray(0, 30))).status, 400)
    const { status, body: answer } = await send('compress', body)
    assert.equal(status, 415)
    assert.match(String(answer['error']), /compress is not known here; there are gzip/)
  })
})

describe('models', () => {
  test('are those that the agent has told of, and names that work as well', async () => {
    await relay.anthropic().messages.create(saying('[[say x]]'))
    const { body } = await relay.get('/v1/models')
    const list = body['data'] as Json[]
    const { id, display_name, max_input_tokens } = list[0]!
    assert.deepEqual([id, display_name, max_input_tokens], ['demo', 'Demo', 100_000])
    assert.deepEqual(
      list.slice(1).map((model) => model['id']),
      ['claude-sonnet-4-6', 'claude-opus-4-6', 'claude-haiku-4-5', 'gpt-4o'],
    )
    assert.deepEqual([body['first_id'], body['last_id'], body['has_more']], ['demo', 'gpt-4o', false])
  })

  test('each of them, for both SDKs, and versions of Claude’s', async () => {
    for (const id of ['demo', 'claude-opus-4-6', 'claude-sonnet-4-20250514']) {
      assert.equal((await relay.anthropic().models.retrieve(id)).type, 'model')
      assert.equal((await relay.openai().models.retrieve(id)).object, 'model')
    }
    assert.equal((await relay.get('/v1/models/llama3.1')).status, 404)
  })
})

const SCHEMA = {
  type: 'object' as const,
  properties: { name: { type: 'string' }, count: { type: 'integer' } },
  required: ['name', 'count'],
  additionalProperties: false,
}
const FRUIT = { name: 'plum', count: 3 }
const FENCED = `Sure!\n\`\`\`json\n${JSON.stringify(FRUIT)}\n\`\`\``
/** A wrong answer which, read again, asks for the right one. */
const WRONG = `{"name":"plum"} ${in64(JSON.stringify(FRUIT))}`

describe('JSON that was asked for', () => {
  const format = {
    type: 'json_schema' as const,
    json_schema: { name: 'fruit', schema: SCHEMA, strict: true },
  }
  const ask = (content: string, more: object = { response_format: format }) =>
    relay.openai().chat.completions.create({ ...chatting(content), ...more } as typeof streamless)
  const streamless = { ...chatting(''), stream: false as const }

  test('comes without a fence', async () => {
    assert.equal(said(await ask(in64(FENCED))), JSON.stringify(FRUIT))
    const object = { response_format: { type: 'json_object' } }
    assert.equal(said(await ask(in64(FENCED), object)), JSON.stringify(FRUIT))
  })

  test('is asked for again if it is not what the schema says', async () => {
    const completion = await ask(in64(WRONG))
    assert.deepEqual(JSON.parse(said(completion)), FRUIT)
    const [last] = (await relay.calls()).slice(-1)
    assert.deepEqual(
      [last!['status'], last!['output_tokens']],
      ['success', completion.usage!.completion_tokens],
    )
  })

  test('is a clear error if it does not come then either', async () => {
    const before = (await relay.calls()).length
    await assert.rejects(ask('[[say never]]'), (error) => {
      assert.ok(error instanceof APIError)
      assert.deepEqual([error.status, error.code], [500, 'invalid_json'])
      assert.match(error.message, /asked twice.*it is not JSON/)
      assert.equal(error.headers?.get('x-should-retry'), 'false')
      return true
    })
    assert.equal((await relay.calls()).length, before + 1, 'one call, one record')
  })

  test('is all that a stream has, and a failure has its status', async () => {
    const streamed = async (content: string): Promise<string> => {
      const asked = { ...chatting(content), response_format: format, stream: true as const }
      let text = ''
      for await (const { choices } of await relay.openai().chat.completions.create(asked))
        text += choices[0]?.delta.content ?? ''
      return text
    }
    assert.equal(await streamed(in64(FENCED)), JSON.stringify(FRUIT))
    assert.deepEqual(JSON.parse(await streamed(in64(WRONG))), FRUIT)
    await assert.rejects(streamed('[[say never]]'), { status: 500 })
  })

  test('by both of Anthropic’s names', async () => {
    const schema = { type: 'json_schema' as const, schema: SCHEMA }
    for (const more of [{ output_config: { format: schema } }, { output_format: schema }]) {
      const message = await relay.anthropic().messages.create({ ...saying(in64(FENCED)), ...more })
      assert.deepEqual(message.content, [{ type: 'text', text: JSON.stringify(FRUIT) }])
      const stream = relay.anthropic().messages.stream({ ...saying(in64(WRONG)), ...more })
      assert.deepEqual(JSON.parse(textOf(await stream.finalMessage())), FRUIT)
    }
  })

  test('is what the SDKs’ own helpers parse', async () => {
    const Fruit = z.object({ name: z.string(), count: z.int() })
    const asked = { ...chatting(in64(WRONG)), response_format: zodResponseFormat(Fruit, 'fruit') }
    const { choices } = await relay.openai().chat.completions.parse(asked)
    assert.deepEqual(choices[0]!.message.parsed, FRUIT)
    const message = await relay
      .anthropic()
      .messages.parse({ ...saying(in64(WRONG)), output_config: { format: zodOutputFormat(Fruit) } })
    assert.deepEqual(message.parsed_output, FRUIT)
  })

  test('is a wish of its call only: a session keeps the prompt that it had', async () => {
    const client = relay.openai({ sticky: 'json-once' })
    const system = { role: 'system' as const, content: '[[sysword TERSE]]' }
    const { model, messages } = chatting('[[say noted]]')
    await client.chat.completions.create({ model, messages: [system, ...messages] })
    const asked = { ...chatting(in64(FENCED)), response_format: format }
    assert.deepEqual(JSON.parse(said(await client.chat.completions.create(asked))), FRUIT)
    assert.equal(said(await client.chat.completions.create(chatting('[[system]]'))), 'system: TERSE')
  })

  test('is not looked for in a call of a tool, nor where a limit was reached', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const called = await ask(calling(['look', {}]), { response_format: format, tools })
    assert.equal(called.choices[0]!.finish_reason, 'tool_calls')
    const short = await ask('[[words 500]]', { response_format: format, max_tokens: 5 })
    assert.equal(short.choices[0]!.finish_reason, 'length')
  })

  test('asked for twice in a session leaves its memory as it is', async () => {
    const client = relay.openai({ sticky: 'json' })
    const right = JSON.stringify({ name: 'plum' })
    const schema = {
      type: 'object',
      properties: { name: { enum: [in64(right), 'plum'] } },
      required: ['name'],
    }
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'x', schema } }
    const tell = async (content: string): Promise<string> =>
      said(await client.chat.completions.create({ ...chatting(content), response_format }))
    assert.equal(await tell(`[[remember PLUM]] ${in64(right)}`), right)
    assert.equal(await tell('[[say {"name":"pear"}]]'), right)
    assert.equal(said(await client.chat.completions.create(chatting('[[recall]]'))), 'recall: PLUM')
  })
})

describe('custom tools', () => {
  const tools: OpenAI.ChatCompletionCustomTool[] = [
    { type: 'custom', custom: { name: 'patch', description: 'takes a patch', format: { type: 'text' } } },
  ]
  const question = { role: 'user' as const, content: calling(['patch', { input: '*** Begin\n+ "x"' }]) }
  const asked = { model: 'gpt-4o', messages: [question], tools }

  test('are called with a text, and take a result', async () => {
    const first = await relay.openai().chat.completions.create(asked)
    const { message, finish_reason } = first.choices[0]!
    assert.equal(finish_reason, 'tool_calls')
    const [call] = message.tool_calls!
    assert.ok(call?.type === 'custom')
    assert.deepEqual(call.custom, { name: 'patch', input: '*** Begin\n+ "x"' })
    const result = { role: 'tool' as const, tool_call_id: call.id, content: 'applied' }
    const second = await relay
      .openai()
      .chat.completions.create({ ...asked, messages: [question, message, result] })
    assert.equal(said(second), 'tool said: applied')
  })

  test('are what they were for who sends only results to a session', async () => {
    const client = relay.openai({ sticky: 'custom tools' })
    const first = await client.chat.completions.create(asked)
    const { id } = first.choices[0]!.message.tool_calls![0]!
    const result = { role: 'tool' as const, tool_call_id: id, content: 'applied' }
    await client.chat.completions.create({ model: 'gpt-4o', messages: [result] })
    const again = await client.chat.completions.create({ model: 'gpt-4o', messages: [question] })
    const [call] = again.choices[0]!.message.tool_calls!
    assert.ok(call?.type === 'custom', JSON.stringify(call))
    assert.equal(call.custom.input, '*** Begin\n+ "x"')
  })

  test('are streamed as such', async () => {
    const pieces: Json[] = []
    const stream = await relay.openai().chat.completions.create({ ...asked, stream: true })
    for await (const { choices } of stream)
      pieces.push(...((choices[0]?.delta.tool_calls ?? []) as unknown as Json[]))
    assert.deepEqual([pieces[0]!['type'], pieces[0]!['custom']], ['custom', { name: 'patch', input: '' }])
    const text = pieces.map(({ custom }) => (custom as { input: string }).input).join('')
    assert.equal(text, '*** Begin\n+ "x"')
  })

  test('may be chosen, or be among those that are allowed', async () => {
    const named = { type: 'custom' as const, custom: { name: 'patch' } }
    const chosen = await relay.openai().chat.completions.create({ ...asked, tool_choice: named })
    assert.equal(chosen.choices[0]!.finish_reason, 'tool_calls')
    const allowed = (name: string) => ({
      type: 'allowed_tools' as const,
      allowed_tools: { mode: 'auto' as const, tools: [{ type: 'custom', custom: { name } }] },
    })
    const left = await relay.openai().chat.completions.create({ ...asked, tool_choice: allowed('patch') })
    assert.equal(left.choices[0]!.finish_reason, 'tool_calls')
    const none = await relay.openai().chat.completions.create({ ...asked, tool_choice: allowed('other') })
    assert.equal(none.choices[0]!.finish_reason, 'stop')
  })
})

test('whose route a path means is known at once, however it is written: a web page may send it, too', () => {
  const slashes = '/'.repeat(1_000_000)
  assert.equal(routePath(`${slashes}v1${slashes}x${slashes}y${slashes}`), `/v1/x${slashes}y`)
  assert.equal(routePath(slashes), '/v1')
})
