import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { after, test } from 'node:test'
import type { Ask, JsonObject, Piece } from '../../src/relay/ask.ts'
import { openaiUpstream } from '../../src/relay/providers/openai.ts'
import type { UpstreamConfig } from '../../src/relay/providers/upstream.ts'
import { aCall, all, anAsk, chunks, jsonOf, sendEvents, serve } from './servers.ts'

const KEY = 'sk-proj-very-secret-0123456789'

let handler: RequestListener = () => undefined
let seen: { path: string; headers: IncomingHttpHeaders; body: JsonObject }
const server = await serve(async (req, res) => {
  seen = { path: req.url!, headers: req.headers, body: await jsonOf(req) }
  handler(req, res)
})

function upstream(patch: Partial<UpstreamConfig> = {}) {
  const provider = openaiUpstream({
    name: 'local',
    kind: 'openai',
    baseUrl: server.url,
    apiKey: KEY,
    ...patch,
  })
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

const delta = (given: JsonObject, finish: string | null = null) => ({
  choices: [{ index: 0, delta: given, finish_reason: finish }],
})
const call = (index: number, id: string | undefined, name: string | undefined, args: string) => ({
  index,
  ...(id && { id, type: 'function' }),
  function: { ...(name && { name }), arguments: args },
})
const USAGE = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } }
const OPENAI: Ask['body'] = { shape: 'openai', json: { model: 'm', messages: [] } }

test('text and reasoning come as pieces; usage behind the reason to stop is part of the end', async () => {
  const frames = chunks(
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: 'hm' }),
    delta({ reasoning: 'so' }),
    delta({ content: 'Grüß' }),
    delta({ content: ' dich' }),
    delta({}, 'stop'),
    USAGE,
    '[DONE]',
  )
  assert.deepEqual(await answered(frames), [
    { type: 'thinking', text: 'hm' },
    { type: 'thinking', text: 'so' },
    { type: 'text', text: 'Grüß' },
    { type: 'text', text: ' dich' },
    { type: 'end', stopReason: 'end_turn', stopSequence: null, usage: { inputTokens: 9, outputTokens: 4 } },
  ])
})

test('a call of a custom tool has a text', async () => {
  const custom = (given: JsonObject) => delta({ tool_calls: [{ index: 0, ...given }] })
  const frames = chunks(
    custom({ id: 'c1', type: 'custom', custom: { name: 'patch', input: '' } }),
    custom({ custom: { input: '+ {"no' } }),
    custom({ custom: { input: 't JSON' } }),
    delta({}, 'tool_calls'),
    '[DONE]',
  )
  const [piece, end] = await answered(frames, anAsk({ body: OPENAI }))
  assert.deepEqual(piece, { type: 'tool_use', id: 'c1', name: 'patch', input: { input: '+ {"not JSON' } })
  assert.equal((end as { stopReason: string }).stopReason, 'tool_use')
})

test('tool calls are gathered from their pieces, also interleaved ones', async () => {
  const frames = chunks(
    delta({ tool_calls: [call(0, 'c1', 'look', '')] }),
    delta({ tool_calls: [call(0, undefined, undefined, '{"at"'), call(1, 'c2', 'wait', '{}')] }),
    delta({ tool_calls: [call(0, undefined, undefined, ':1}')] }),
    delta({}, 'tool_calls'),
    '[DONE]',
  )
  assert.deepEqual(await answered(frames), [
    { type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } },
    { type: 'tool_use', id: 'c2', name: 'wait', input: {} },
    { type: 'end', stopReason: 'tool_use', stopSequence: null, usage: null },
  ])
})

test('calls that share an index, have no id, or end with `stop` are understood', async () => {
  const frames = chunks(
    delta({ tool_calls: [call(0, 'c1', 'look', '{"at":1}')] }),
    delta({ tool_calls: [call(0, 'c2', 'look', '{"at":2}')] }),
    delta({ tool_calls: [call(1, undefined, 'wait', '')] }),
    delta({}, 'stop'),
  )
  const pieces = await answered(frames)
  assert.deepEqual(
    pieces.map((piece) => (piece.type === 'tool_use' ? [piece.name, piece.input] : piece.type)),
    [['look', { at: 1 }], ['look', { at: 2 }], ['wait', {}], 'end'],
  )
  const [, , third, end] = pieces
  assert.match(third?.type === 'tool_use' ? third.id : '', /^call_.{30}/)
  assert.equal(end?.type === 'end' && end.stopReason, 'tool_use')
})

test('reasons to stop', async () => {
  for (const [reason, expected] of [
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['eos', 'end_turn'],
  ] as const) {
    const [piece] = await answered(chunks(delta({}, reason), '[DONE]'))
    assert.equal(piece?.type === 'end' && piece.stopReason, expected)
  }
  const refusal = await answered(chunks(delta({ refusal: 'No.' }), delta({}, 'stop'), '[DONE]'))
  assert.deepEqual(refusal[0], { type: 'text', text: 'No.' })
  assert.equal(refusal[1]?.type === 'end' && refusal[1].stopReason, 'refusal')
})

test('a body of the same shape goes on as it came, with usage asked for', async () => {
  const json = {
    model: 'm',
    messages: [],
    seed: 7,
    stream: false,
    stream_options: { include_obfuscation: false },
  }
  await answered(chunks(delta({}, 'stop')), anAsk({ body: { shape: 'openai', json } }), {
    models: { m: 'llama' },
  })
  assert.deepEqual(seen.body, {
    ...json,
    model: 'llama',
    stream: true,
    stream_options: { include_obfuscation: false, include_usage: true },
  })
  assert.equal(seen.headers.authorization, `Bearer ${KEY}`)
})

test('the path is that of the address; a bare host gets the usual one', async () => {
  const done = chunks(delta({}, 'stop'))
  for (const [baseUrl, path] of [
    [server.url, '/v1/chat/completions'],
    [`${server.url}/`, '/v1/chat/completions'],
    [`${server.url}/v1/`, '/v1/chat/completions'],
    [`${server.url}/api/openai`, '/api/openai/chat/completions'],
  ] as const) {
    await answered(done, anAsk({ body: OPENAI }), { baseUrl })
    assert.equal(seen.path, path)
  }
})

test('a call of the other shape is put into this one', async () => {
  const ask = anAsk({
    system: 'Be brief.',
    stopSequences: ['1', '2', '3', '4', '5'],
    tools: [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }],
    toolChoice: { type: 'any' },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          { type: 'document', mediaType: 'application/pdf', data: 'BBBB', title: null },
          { type: 'document', mediaType: 'text/plain', data: 'SGk=', title: 'note' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'hm' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } },
          { type: 'tool_use', id: 't2', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'and now?' },
          { type: 'tool_result', toolUseId: 't1', content: [{ type: 'text', text: 'a' }], isError: false },
          {
            type: 'tool_result',
            toolUseId: 't2',
            content: [{ type: 'image', mediaType: 'image/gif', data: 'CCCC' }],
            isError: true,
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'thinking', text: 'only' }] },
      { role: 'user', content: [{ type: 'text', text: 'well?' }] },
    ],
  })
  await answered(chunks(delta({}, 'stop')), ask)
  assert.deepEqual(seen.body, {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 100,
    stop: ['1', '2', '3', '4'],
    tools: [
      { type: 'function', function: { name: 'look', description: 'looks', parameters: { type: 'object' } } },
    ],
    tool_choice: 'required',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
          { type: 'text', text: 'note\n\nHi' },
        ],
      },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 't1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
          { id: 't2', type: 'function', function: { name: 'look', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 't1', content: 'a' },
      { role: 'tool', tool_call_id: 't2', content: 'Error: ' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/gif;base64,CCCC' } },
          { type: 'text', text: 'and now?' },
        ],
      },
      { role: 'user', content: 'well?' },
    ],
  })
})

test('models that think first get the limit by its new name', async () => {
  await answered(chunks(delta({}, 'stop')), anAsk(), { model: 'o4-mini' })
  assert.equal(seen.body['max_completion_tokens'], 100)
  assert.equal('max_tokens' in seen.body, false)
})

test('an error in the stream, a stream that just ends and nonsense are failures', async () => {
  const error = { error: { message: `bad key ${KEY}`, type: 'server_error', code: 429 } }
  await assert.rejects(answered(chunks(delta({ content: 'a' }), error)), {
    name: 'RelayFailure',
    status: 429,
    message: 'local: bad key ••••••••',
  })
  await assert.rejects(answered(chunks(delta({ content: 'a' }))), { status: 503, message: /broke off/ })
  await assert.rejects(answered(chunks(delta({ content: 'a' }), '[DONE]')), {
    status: 503,
    message: /broke off/,
  })
  await assert.rejects(answered(chunks('<html>')), { status: 503, message: /not JSON/ })
  const torn = delta({ tool_calls: [call(0, 'c', 'look', '{"a')] })
  await assert.rejects(answered(chunks(torn, delta({}, 'tool_calls'))), { status: 503, message: /tool look/ })
  assert.equal((await answered(chunks(torn, delta({}, 'length')))).length, 1)
})
