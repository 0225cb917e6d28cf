import { type ContentPiece, type Heading, slicesOf } from '../../relay/answer.ts'
import type { StreamEncoder } from '../../relay/shape.ts'
import { failureBody } from './failure.ts'
import { messageId, usageOf } from './message.ts'

const PING = 'event: ping\ndata: {"type":"ping"}\n\n'

/** How far a stream is. */
interface Progress {
  begun: boolean
  /** Of the block that is being written, or of the next one. */
  index: number
  open: 'text' | 'thinking' | null
}

/** Anthropic's events: blocks one after the other, each begun, filled and closed. */
export function anthropicStream(heading: Heading): StreamEncoder {
  const at: Progress = { begun: false, index: 0, open: null }

  function begin(): string {
    if (at.begun) return ''
    at.begun = true
    return event('message_start', { message: emptyMessage(heading) })
  }

  return {
    begin,
    piece: (piece) =>
      begin() + (piece.type === 'tool_use' ? close(at) + called(at, piece) : written(at, piece)),
    end: ({ stopReason, stopSequence, usage }, { provider, durationMs, fallbackChain }) =>
      begin() +
      close(at) +
      event('message_delta', {
        delta: { stop_reason: stopReason, stop_sequence: stopSequence },
        usage: usageOf(usage),
        provider,
        durationMs,
        fallbackChain,
      }) +
      event('message_stop', {}),
    ping: () => begin() + PING,
    fail: (failure) => `event: error\ndata: ${JSON.stringify(failureBody(failure, heading.id))}\n\n`,
  }
}

function start({ index }: Progress, contentBlock: object): string {
  return event('content_block_start', { index, content_block: contentBlock })
}

function close(at: Progress): string {
  if (at.open === null) return ''
  at.open = null
  return stop(at)
}

function stop(at: Progress): string {
  return event('content_block_stop', { index: at.index++ })
}

function written(at: Progress, piece: Extract<ContentPiece, { text: string }>): string {
  const { type, text } = piece
  const signature = piece.type === 'thinking' ? piece.signature : undefined
  if (text === '' && signature === undefined) return ''
  const before = at.open === type ? '' : close(at) + start(at, EMPTY[type])
  at.open = type
  const said = text === '' ? '' : DELTA_HEAD + at.index + DELTA[type] + JSON.stringify(text) + DELTA_TAIL
  return before + said + (signature === undefined ? '' : signed(at, signature))
}

/** A signature is the last of its block. */
function signed(at: Progress, signature: string): string {
  const delta = { type: 'signature_delta', signature }
  return event('content_block_delta', { index: at.index, delta }) + close(at)
}

function called(at: Progress, { id, name, input }: Extract<ContentPiece, { type: 'tool_use' }>): string {
  const deltas = slicesOf(JSON.stringify(input)).map((slice) => {
    const delta = { type: 'input_json_delta', partial_json: slice }
    return event('content_block_delta', { index: at.index, delta })
  })
  return start(at, { type: 'tool_use', id, name, input: {} }) + deltas.join('') + stop(at)
}

const EMPTY = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
}

/* A delta is what a stream mostly consists of: only its text is written anew. */
const DELTA_HEAD = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":'
const DELTA = {
  text: ',"delta":{"type":"text_delta","text":',
  thinking: ',"delta":{"type":"thinking_delta","thinking":',
}
const DELTA_TAIL = '}}\n\n'

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}

function emptyMessage({ id, model, inputTokens }: Heading): object {
  return {
    id: messageId(id),
    type: 'message',
    role: 'assistant',
    content: [],
    model,
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf({ inputTokens, outputTokens: 0 }),
  }
}
