import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { after, test } from 'node:test'
import type { Ask, JsonObject, Piece } from '../../src/relay/ask.ts'
import { anthropicUpstream } from '../../src/relay/providers/anthropic.ts'
import type { UpstreamConfig } from '../../src/relay/providers/upstream.ts'
import { aCall, all, anAsk, jsonOf, named, sendEvents, serve } from './servers.ts'

const KEY = 'sk-ant-very-secret-0123456789'
const START = { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } }
const STOP = { type: 'message_stop' }

function end(reason: string, sequence: string | null = null, output = 5) {
  const delta = { stop_reason: reason, stop_sequence: sequence }
  return { type: 'message_delta', delta, usage: { output_tokens: output } }
}

function block(index: number, content_block: JsonObject, ...deltas: JsonObject[]) {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

let handler: RequestListener = () => undefined
let seen: { path: string; headers: IncomingHttpHeaders; body: JsonObject }
const server = await serve(async (req, res) => {
  seen = { path: req.url!, headers: req.headers, body: await jsonOf(req) }
  handler(req, res)
})

function upstream(patch: Partial<UpstreamConfig> = {}) {
  const config = { name: 'api', kind: 'anthropic' as const, baseUrl: server.url, apiKey: KEY, ...patch }
  const provider = anthropicUpstream(config)
  after(() => provider.close())
  return provider
}

async function answered(
  frames: string,
  ask: Ask = anAsk(),
  patch: Partial<UpstreamConfig> = {},
): Promise<Piece[]> {
  handler = (_, res) => sendEvents(res, frames)
  return all(upstream(patch).answer(aCall(ask)))
}

test('text, thinking and tools come as pieces, with what the API counts', async () => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 3,
    cache_creation_input_tokens: 2,
    output_tokens: 1,
  }
  const frames = named(
    { type: 'message_start', message: { usage } },
    { type: 'ping' },
    ...block(
      0,
      { type: 'thinking', thinking: '' },
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 'c2ln' },
    ),
    ...block(
      1,
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Grüß' },
      { type: 'text_delta', text: ' dich' },
    ),
    ...block(
      2,
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{"at":' },
      { type: 'input_json_delta', partial_json: '"it"}' },
    ),
    ...block(3, { type: 'tool_use', id: 'toolu_2', name: 'wait', input: {} }),
    end('tool_use'),
    STOP,
  )
  assert.deepEqual(await answered(frames), [
    { type: 'thinking', text: 'hm' },
    { type: 'thinking', text: '', signature: 'c2ln' },
    { type: 'text', text: 'Grüß' },
    { type: 'text', text: ' dich' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
    { type: 'tool_use', id: 'toolu_2', name: 'wait', input: {} },
    { type: 'end', stopReason: 'tool_use', stopSequence: null, usage: { inputTokens: 15, outputTokens: 5 } },
  ])
})

test('reasons to stop', async () => {
  for (const [reason, sequence, expected] of [
    ['end_turn', null, 'end_turn'],
    ['stop_sequence', 'END', 'stop_sequence'],
    ['max_tokens', null, 'max_tokens'],
    ['refusal', null, 'refusal'],
    ['model_context_window_exceeded', null, 'max_tokens'],
    ['something new', null, 'end_turn'],
  ] as const) {
    const [piece] = await answered(named(START, end(reason, sequence), STOP))
    assert.deepEqual(piece, {
      type: 'end',
      stopReason: expected,
      stopSequence: sequence,
      usage: { inputTokens: 10, outputTokens: 5 },
    })
  }
})

test('a body of the same shape goes on as it came, streamed and with the model of the configuration', async () => {
  const json = {
    model: 'm',
    max_tokens: 7,
    messages: [],
    stream: false,
    metadata: { user_id: 'u' },
    new_field: [1],
  }
  const ask = anAsk({ body: { shape: 'anthropic', json } })
  const models = { m: 'mapped' }
  await answered(named(START, end('end_turn'), STOP), ask, { model: 'other', models })
  assert.deepEqual(seen.body, { ...json, model: 'mapped', stream: true })
  assert.equal(seen.path, '/v1/messages')
  assert.equal(seen.headers['x-api-key'], KEY)
  assert.equal(seen.headers['anthropic-version'], '2023-06-01')
  await answered(
    named(START, end('end_turn'), STOP),
    { ...ask, model: 'unmapped' },
    { model: 'other', models },
  )
  assert.equal(seen.body['model'], 'other')
  await answered(named(START, end('end_turn'), STOP), { ...ask, model: 'constructor' }, { models })
  assert.equal(seen.body['model'], 'constructor')
})

test('thinking that nobody has signed stays out of it', async () => {
  const thought = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature })
  const said = { type: 'text', text: 'so' }
  const question = { role: 'user', content: 'hi' }
  const messages = [
    question,
    { role: 'assistant', content: [thought(''), said] },
    question,
    { role: 'assistant', content: [thought('c2ln'), said] },
    question,
    { role: 'assistant', content: [thought('')] },
    question,
  ]
  const json = { model: 'm', max_tokens: 7, messages }
  await answered(named(START, end('end_turn'), STOP), anAsk({ body: { shape: 'anthropic', json } }))
  assert.deepEqual(seen.body['messages'], [
    question,
    { role: 'assistant', content: [said] },
    question,
    messages[3],
    question,
    question,
  ])
})

test('a version in the address is not doubled, and no key is sent where there is none', async () => {
  handler = (_, res) => sendEvents(res, named(START, end('end_turn'), STOP))
  const provider = anthropicUpstream({ name: 'api', kind: 'anthropic', baseUrl: `${server.url}/v1/` })
  after(() => provider.close())
  await all(provider.answer(aCall()))
  assert.equal(seen.path, '/v1/messages')
  assert.equal(seen.headers['x-api-key'], undefined)
})

test('a call of the other shape is put into this one', async () => {
  const ask = anAsk({
    system: 'Be brief.',
    stopSequences: ['END'],
    tools: [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }],
    toolChoice: { type: 'tool', name: 'look' },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'text', text: '' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          { type: 'document', mediaType: 'application/pdf', data: 'BBBB', title: 'a.pdf' },
          { type: 'document', mediaType: 'text/markdown', data: 'SGk=', title: null },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'unsigned' },
          { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 't1', content: [{ type: 'text', text: 'no' }], isError: true },
        ],
      },
    ],
    body: { shape: 'openai', json: { temperature: 1.7, top_p: 0.5, n: 1 } },
  })
  await answered(named(START, end('end_turn'), STOP), ask)
  assert.deepEqual(seen.body, {
    model: 'm',
    stream: true,
    max_tokens: 100,
    system: 'Be brief.',
    stop_sequences: ['END'],
    tools: [{ name: 'look', description: 'looks', input_schema: { type: 'object' } }],
    tool_choice: { type: 'tool', name: 'look' },
    temperature: 1,
    top_p: 0.5,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
            title: 'a.pdf',
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'no' }], is_error: true },
        ],
      },
    ],
  })
})

test('a tool whose input was cut by the limit was never called; else its input is nonsense', async () => {
  const torn = block(
    0,
    { type: 'tool_use', id: 't', name: 'look', input: {} },
    { type: 'input_json_delta', partial_json: '{"at' },
  )
  const pieces = await answered(named(START, ...torn, end('max_tokens'), STOP))
  assert.deepEqual(
    pieces.map(({ type }) => type),
    ['end'],
  )
  await assert.rejects(answered(named(START, ...torn, end('tool_use'), STOP)), {
    status: 503,
    message: /tool look/,
  })
})

test('an error in the stream is a failure after the pieces before it', async () => {
  for (const [type, status] of [
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', 500],
    ['unheard_of', 500],
  ] as const) {
    const said = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'so far' })
    const error = { type: 'error', error: { type, message: `no more for ${KEY}` } }
    handler = (_, res) => sendEvents(res, named(START, ...said, error))
    const pieces: Piece[] = []
    const reading = (async () => {
      for await (const piece of upstream().answer(aCall())) pieces.push(piece)
    })()
    await assert.rejects(reading, { name: 'RelayFailure', status, message: 'api: no more for ••••••••' })
    assert.deepEqual(pieces, [{ type: 'text', text: 'so far' }])
  }
})
