import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIError } from 'openai'
import type { ContentPiece, End } from '../../../src/relay/answer.ts'
import type { StopReason } from '../../../src/relay/ask.ts'
import { RelayFailure } from '../../../src/relay/failure.ts'
import { completionOf } from '../../../src/dialects/openai/completion.ts'
import { openAiStream } from '../../../src/dialects/openai/stream.ts'
import { clientsOf, heading as answer, json, served, streaming } from '../../relay/sdk.ts'

const heading = { ...answer, model: 'gpt-4o "content":""' }
const input = { city: 'Zürich 👩‍👩‍👧', note: '𝄞'.repeat(100), days: [1, 2, 3] }
const pieces: ContentPiece[] = [
  { type: 'thinking', text: 'not for this shape' },
  { type: 'text', text: 'Hello, ' },
  { type: 'text', text: '' },
  { type: 'text', text: '"wörld"\n\u2028\r\n👋' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input },
  { type: 'tool_use', id: 'toolu_2', name: 'nothing', input: {} },
]
const end: End = {
  type: 'end',
  stopReason: 'tool_use',
  stopSequence: null,
  usage: { inputTokens: 11, outputTokens: 42 },
}
const usage = { prompt_tokens: 11, completion_tokens: 42, total_tokens: 53 }
const calls = [
  { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: JSON.stringify(input) } },
  { id: 'toolu_2', type: 'function', function: { name: 'nothing', arguments: '{}' } },
]
const ask = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }

function encoded(includeUsage: boolean): string[] {
  const stream = openAiStream(heading, { includeUsage })
  return [stream.ping(), ...pieces.map(stream.piece), stream.ping(), stream.end(end, served)]
}

interface Chunk {
  id: string
  object: string
  created: number
  model: string
  usage?: object | null
  choices: { delta: Delta; finish_reason: string | null }[]
}

interface Delta {
  role?: string
  content?: string
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[]
}

function chunksIn(text: string): Chunk[] {
  const blocks = text.split('\n\n').filter((block) => block.startsWith('data: {'))
  return blocks.map((block) => JSON.parse(block.slice('data: '.length)) as Chunk)
}

test('the SDK puts a stream together: text, tools, usage', async (t) => {
  const { openai } = await clientsOf(t, streaming(encoded(true)))
  const stream = openai.chat.completions.stream({ ...ask, stream_options: { include_usage: true } })
  const completion = await stream.finalChatCompletion()
  const choice = completion.choices[0]!
  assert.equal(completion.id, `chatcmpl-${heading.id}`)
  assert.equal(completion.model, heading.model)
  assert.equal(completion.created, 1_779_094_486)
  assert.equal(choice.message.content, 'Hello, "wörld"\n\u2028\r\n👋')
  assert.equal(choice.finish_reason, 'tool_calls')
  const made = choice.message.tool_calls!.map((call) => {
    assert.ok(call.type === 'function')
    const { name, arguments: given } = call.function
    return { id: call.id, type: call.type, function: { name, arguments: given } }
  })
  assert.deepEqual(made, calls)
  assert.deepEqual(completion.usage, usage)
})

test('the SDK reads it chunk by chunk, also when it comes byte by byte', async (t) => {
  const { openai } = await clientsOf(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const byte of Buffer.from(encoded(false).join(''))) response.write(Buffer.of(byte))
    response.end()
  })
  let text = ''
  let finish: string | null = null
  for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? ''
    finish = chunk.choices[0]?.finish_reason ?? finish
  }
  assert.equal(text, 'Hello, "wörld"\n\u2028\r\n👋')
  assert.equal(finish, 'tool_calls')
})

test('the role comes first, the id of a call once, its arguments in several parts, the end last', () => {
  const text = encoded(false).join('')
  const chunks = chunksIn(text)
  const deltas = chunks.map(({ choices }) => choices[0]!.delta)
  assert.ok(text.endsWith('data: [DONE]\n\n'))
  assert.ok(text.isWellFormed())
  assert.deepEqual(
    deltas.map(({ role }) => role),
    ['assistant', ...deltas.slice(1).map(() => undefined)],
  )
  const parts = deltas.flatMap(({ tool_calls }) => tool_calls ?? [])
  assert.deepEqual(
    parts.flatMap(({ id }) => id ?? []),
    ['toolu_1', 'toolu_2'],
  )
  assert.ok(parts.filter(({ index }) => index === 0).length > 4)
  assert.ok(chunks.every((chunk) => !('usage' in chunk)))
})

test('usage is the last chunk, has no choices, and is null on the others', () => {
  const chunks = chunksIn(encoded(true).join(''))
  const last = chunks.pop()!
  assert.deepEqual(last.choices, [])
  assert.deepEqual(last.usage, usage)
  assert.ok(chunks.every((chunk) => chunk.usage === null))
})

test('a failure in the middle of a stream reaches the SDK with its type and words', async (t) => {
  const stream = openAiStream(heading, { includeUsage: false })
  const failure = new RelayFailure(529, 'overloaded_error', 'too much to do', { extra: { code: 'busy' } })
  const { openai } = await clientsOf(
    t,
    streaming([stream.piece({ type: 'text', text: 'Hel' }), stream.fail(failure)]),
  )
  await assert.rejects(openai.chat.completions.stream(ask).finalChatCompletion(), (error) => {
    assert.ok(error instanceof APIError)
    assert.equal(error.type, 'overloaded_error')
    assert.equal(error.code, 'busy')
    assert.match(error.message, /too much to do/)
    return true
  })
})

test('an answer in one piece', async (t) => {
  const body = completionOf(heading, pieces, end, served)
  assert.deepEqual(body, {
    id: `chatcmpl-${heading.id}`,
    object: 'chat.completion',
    created: 1_779_094_486,
    model: heading.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hello, "wörld"\n\u2028\r\n👋',
          refusal: null,
          tool_calls: calls,
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage,
    provider: 'agent',
    durationMs: 12,
    fallbackChain: [{ provider: 'other', error: 'is cooling down' }],
  })
  const { openai } = await clientsOf(t, json(body))
  const completion = await openai.chat.completions.create(ask)
  assert.deepEqual(completion.choices[0]?.message.tool_calls, calls)
})

test('content is null beside calls only', () => {
  const contentOf = (said: ContentPiece[]): unknown => {
    const body = completionOf(heading, said, end, served) as { choices: [{ message: { content: unknown } }] }
    return body.choices[0].message.content
  }
  assert.equal(contentOf([]), '')
  assert.equal(contentOf(pieces.slice(-1)), null)
})

test('every reason to stop has its word', () => {
  const words = { end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length', refusal: 'content_filter' }
  for (const [stopReason, word] of Object.entries(words)) {
    const stream = openAiStream(heading, { includeUsage: false })
    const chunks = chunksIn(stream.end({ ...end, stopReason: stopReason as StopReason }, served))
    assert.equal(chunks.at(-1)!.choices[0]!.finish_reason, word)
  }
})
