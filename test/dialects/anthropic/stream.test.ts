import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIError } from '@anthropic-ai/sdk'
import { messageOf } from '../../../src/dialects/anthropic/message.ts'
import { anthropicStream } from '../../../src/dialects/anthropic/stream.ts'
import { type ContentPiece, type End, slicesOf } from '../../../src/relay/answer.ts'
import { RelayFailure } from '../../../src/relay/failure.ts'
import { clientsOf, heading, json, served, streaming } from '../../relay/sdk.ts'

const input = { city: 'Zürich 👩‍👩‍👧', days: [1, 2, 3], note: '𝄞'.repeat(100), deep: { a: { b: null } } }
const pieces: ContentPiece[] = [
  { type: 'thinking', text: 'Let me ' },
  { type: 'thinking', text: 'see.' },
  { type: 'text', text: 'Hello, ' },
  { type: 'text', text: '' },
  { type: 'text', text: '"wörld"\n\u2028\r\n👋' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input },
  { type: 'tool_use', id: 'toolu_2', name: 'nothing', input: {} },
  { type: 'text', text: 'and more' },
]
const end: End = {
  type: 'end',
  stopReason: 'tool_use',
  stopSequence: null,
  usage: { inputTokens: 11, outputTokens: 42 },
}
const content = [
  { type: 'thinking', thinking: 'Let me see.', signature: '' },
  { type: 'text', text: 'Hello, "wörld"\n\u2028\r\n👋' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input },
  { type: 'tool_use', id: 'toolu_2', name: 'nothing', input: {} },
  { type: 'text', text: 'and more' },
]
const usage = {
  input_tokens: 11,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 42,
}
const ask = {
  model: 'claude-sonnet-4-6',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Hi' }],
}

function encoded(): string[] {
  const stream = anthropicStream(heading)
  return [stream.ping(), ...pieces.map(stream.piece), stream.ping(), stream.end(end, served)]
}

function eventsIn(text: string) {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [, name, data] = /^event: (\w+)\ndata: ([^]*)$/.exec(block) ?? assert.fail(block)
      const event = JSON.parse(data!) as { type: string; index?: number; delta?: { type?: string } }
      assert.equal(event.type, name)
      return event
    })
}

test('the SDK puts a stream together: text, thinking, tools, usage', async (t) => {
  const { anthropic } = await clientsOf(t, streaming(encoded()))
  const texts: string[] = []
  const stream = anthropic.messages.stream(ask).on('text', (text) => texts.push(text))
  const message = await stream.finalMessage()
  assert.deepEqual(message.content, content)
  assert.equal(message.id, 'msg_0199aaaabbbb7ccc8dddeeeeffff0000')
  assert.equal(message.role, 'assistant')
  assert.equal(message.model, 'claude-sonnet-4-6')
  assert.equal(message.stop_reason, 'tool_use')
  assert.equal(message.stop_sequence, null)
  assert.deepEqual(message.usage, usage)
  assert.deepEqual(texts, ['Hello, ', '"wörld"\n\u2028\r\n👋', 'and more'])
})

test('the SDK reads it event by event, also when it comes byte by byte', async (t) => {
  const { anthropic } = await clientsOf(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const byte of Buffer.from(encoded().join(''))) response.write(Buffer.of(byte))
    response.end()
  })
  const types: string[] = []
  for await (const event of await anthropic.messages.create({ ...ask, stream: true })) types.push(event.type)
  assert.equal(types[0], 'message_start')
  assert.deepEqual(types.slice(-2), ['message_delta', 'message_stop'])
})

test('blocks come one after the other, and the input of a tool in several parts', () => {
  const events = eventsIn(encoded().join('')).filter(({ type }) => type !== 'ping')
  const shape = events.map(({ type, index = '' }) => `${type.replace('content_block_', '')}${index}`)
  const once = shape.filter((step, i) => step !== shape[i - 1])
  const blocks = [0, 1, 2, 3, 4].flatMap((i) => [`start${i}`, `delta${i}`, `stop${i}`])
  assert.deepEqual(once, ['message_start', ...blocks, 'message_delta', 'message_stop'])
  assert.ok(shape.filter((step) => step === 'delta2').length > 3)
  assert.ok(encoded().join('').isWellFormed())
})

test('an answer without a word is an answer', async (t) => {
  const stream = anthropicStream(heading)
  const { anthropic } = await clientsOf(
    t,
    streaming([stream.end({ ...end, stopReason: 'end_turn' }, served)]),
  )
  const message = await anthropic.messages.stream(ask).finalMessage()
  assert.deepEqual(message.content, [])
  assert.equal(message.stop_reason, 'end_turn')
})

test('a failure in the middle of a stream reaches the SDK with its type and words', async (t) => {
  const stream = anthropicStream(heading)
  const failure = new RelayFailure(529, 'overloaded_error', 'too much to do', { extra: { code: 'x' } })
  const parts = [stream.piece({ type: 'text', text: 'Hel' }), stream.fail(failure)]
  const { anthropic } = await clientsOf(t, streaming(parts))
  await assert.rejects(anthropic.messages.stream(ask).finalMessage(), (error) => {
    assert.ok(error instanceof APIError)
    assert.equal(error.type, 'overloaded_error')
    assert.match(error.message, /too much to do/)
    return true
  })
})

test('an answer in one piece has the fields of the API and those of the relay', async (t) => {
  const body = messageOf(heading, pieces, end, served)
  assert.deepEqual(body, {
    id: 'msg_0199aaaabbbb7ccc8dddeeeeffff0000',
    type: 'message',
    role: 'assistant',
    content,
    model: 'claude-sonnet-4-6',
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage,
    provider: 'agent',
    durationMs: 12,
    raw_transcript: `Hello, "wörld"\n\u2028\r\n👋\nweather(${JSON.stringify(input)})\nnothing({})\nand more`,
    fallbackChain: [{ provider: 'other', error: 'is cooling down' }],
  })
  const { anthropic } = await clientsOf(t, json(body))
  const message = await anthropic.messages.create(ask)
  assert.deepEqual(message.content, content)
})

test('the input of a tool is never cut inside a character, and not into too many parts', () => {
  for (const length of [1, 24, 100, 100_000]) {
    const text = `x${'𝄞'.repeat(length)}`
    const slices = slicesOf(text)
    assert.equal(slices.join(''), text)
    assert.ok(slices.every((slice) => slice.isWellFormed()))
    assert.ok(slices.length <= 16)
  }
})
