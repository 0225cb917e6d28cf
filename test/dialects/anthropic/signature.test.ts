import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ContentPiece, type End, merged } from '../../../src/relay/answer.ts'
import { messageOf } from '../../../src/dialects/anthropic/message.ts'
import { anthropicStream } from '../../../src/dialects/anthropic/stream.ts'
import type { Piece } from '../../../src/relay/ask.ts'
import { limited } from '../../../src/relay/limit.ts'

const PIECES: ContentPiece[] = [
  { type: 'thinking', text: 'one ' },
  { type: 'thinking', text: 'two' },
  { type: 'thinking', text: '', signature: 'SIG1' },
  { type: 'thinking', text: 'three' },
  { type: 'thinking', text: '', signature: 'SIG2' },
  { type: 'text', text: 'so' },
]
const BLOCKS = [
  { type: 'thinking', thinking: 'one two', signature: 'SIG1' },
  { type: 'thinking', thinking: 'three', signature: 'SIG2' },
  { type: 'text', text: 'so' },
]
const HEADING = { id: 'c', model: 'm', startedAt: 0, inputTokens: 1 }
const END: End = {
  type: 'end',
  stopReason: 'end_turn',
  stopSequence: null,
  usage: { inputTokens: 1, outputTokens: 1 },
}
const SERVED = { provider: 'p', durationMs: 1, fallbackChain: [] }

test('thinking keeps its signatures, block by block', async () => {
  const limits = { maxTokens: 100, stopSequences: [], thinking: true, system: null, messages: [], tools: [] }
  async function* source(): AsyncGenerator<Piece> {
    yield* [...PIECES, END]
  }
  const pieces: ContentPiece[] = []
  for await (const piece of limited(source(), limits)) if (piece.type !== 'end') pieces.push(piece)
  assert.deepEqual(merged(pieces).length, 3)
  const { content } = messageOf(HEADING, pieces, END, SERVED) as { content: unknown }
  assert.deepEqual(content, BLOCKS)
})

test('a stream tells the signature at the end of its block', () => {
  const encoder = anthropicStream(HEADING)
  const text = PIECES.map((piece) => encoder.piece(piece)).join('') + encoder.end(END, SERVED)
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as { type: string; index?: number; delta?: { type: string } })
  const story = events.flatMap(({ type, index, delta }) =>
    index === undefined ? [] : [`${index} ${delta?.type ?? type}`],
  )
  assert.deepEqual(story, [
    '0 content_block_start',
    '0 thinking_delta',
    '0 thinking_delta',
    '0 signature_delta',
    '0 content_block_stop',
    '1 content_block_start',
    '1 thinking_delta',
    '1 signature_delta',
    '1 content_block_stop',
    '2 content_block_start',
    '2 text_delta',
    '2 content_block_stop',
  ])
})
