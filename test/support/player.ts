/**
 * Plays Claude Code from a book: for each message that somebody may send, what Claude says and does about it. `PLAYER_BOOK` is a
 * JSON file with a `Book`. Pages with several agents in several states can so be shown without any model.
 */
import { mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createLineSplitter } from '../../src/transports/ndjson.ts'

export type Deed =
  | { think: string }
  | { say: string }
  /** Word by word, one every so many ms. */
  | { tell: string; everyMs: number }
  /** A call, and what comes of it. `ask`: first it asks. `file`: what it writes, for real. */
  | {
      use: string
      input: Record<string, unknown>
      output?: string
      ask?: true
      file?: string
      deeds?: Deed[]
    }
  | { hang: true }

export interface Book {
  [message: string]: { deeds: Deed[]; costUsd?: number; tokens?: number; error?: string }
}

type Json = Record<string, unknown>

const ids = { session_id: '00000000-0000-4000-8000-000000000000' }
const waiting = new Map<string, (answer: Json) => void>()
let count = 0
let cost = 0

function emit(line: Json): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

function block(content: Json, parent: string | null): void {
  emit({
    type: 'assistant',
    message: { id: `msg_${++count}`, content: [content] },
    ...ids,
    parent_tool_use_id: parent,
  })
}

async function tell(text: string, everyMs: number): Promise<void> {
  const id = `msg_${++count}`
  const stream = (event: Json): void =>
    emit({ type: 'stream_event', event, ...ids, parent_tool_use_id: null, api_message_id: id })
  stream({ type: 'message_start', message: { id } })
  stream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  for (const piece of text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
    if (everyMs > 0) await setTimeout(everyMs)
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } })
  }
  emit({
    type: 'assistant',
    message: { id, content: [{ type: 'text', text }] },
    ...ids,
    parent_tool_use_id: null,
  })
}

async function use(deed: Extract<Deed, { use: string }>, parent: string | null): Promise<void> {
  const { use: name, input, output = '', ask, file, deeds = [] } = deed
  const id = `toolu_${++count}`
  block({ type: 'tool_use', id, name, input }, parent)
  const isAllowed = !ask || (await allowed(name, input, id, parent))
  if (isAllowed && file !== undefined) {
    const path = String(input['file_path'])
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, file)
  }
  if (isAllowed) for (const inner of deeds) await perform(inner, id)
  const content = [
    { type: 'tool_result', tool_use_id: id, content: isAllowed ? output : 'refused', is_error: !isAllowed },
  ]
  emit({ type: 'user', message: { content }, ...ids, parent_tool_use_id: parent })
}

async function allowed(
  tool_name: string,
  input: Json,
  tool_use_id: string,
  parent: string | null,
): Promise<boolean> {
  const request_id = `request_${++count}`
  const answer = new Promise<Json>((resolve) => waiting.set(request_id, resolve))
  const request = { subtype: 'can_use_tool', tool_name, input, tool_use_id, parent_tool_use_id: parent }
  emit({ type: 'control_request', request_id, request })
  return (await answer)['behavior'] === 'allow'
}

async function perform(deed: Deed, parent: string | null): Promise<void> {
  if ('think' in deed) block({ type: 'thinking', thinking: deed.think }, parent)
  else if ('say' in deed) block({ type: 'text', text: deed.say }, parent)
  else if ('tell' in deed) await tell(deed.tell, deed.everyMs)
  else if ('use' in deed) await use(deed, parent)
  else await new Promise(() => {})
}

async function play(turnId: string, text: string): Promise<void> {
  const book = JSON.parse(readFileSync(process.env['PLAYER_BOOK']!, 'utf8')) as Book
  const { deeds, costUsd = 0.05, tokens = 9000, error } = book[text] ?? { deeds: [{ say: 'Done.' }] }
  const began = performance.now()
  emit({ type: 'command_lifecycle', command_uuid: turnId, state: 'started', ...ids })
  emit({ type: 'system', subtype: 'init', model: 'claude-opus-4-5', claude_code_version: '2.1.0', ...ids })
  for (const deed of deeds) await perform(deed, null)
  cost += costUsd
  emit({
    type: 'result',
    subtype: error === undefined ? 'success' : 'error_during_execution',
    is_error: error !== undefined,
    ...(error !== undefined && { errors: [error] }),
    result: 'done',
    num_turns: deeds.length,
    duration_ms: Math.round(performance.now() - began),
    total_cost_usd: cost,
    usage: { input_tokens: tokens, output_tokens: Math.round(tokens / 8) },
    ...ids,
  })
}

function receive(line: string): void {
  const message = JSON.parse(line) as Json & { uuid: string; message?: { content: unknown }; response?: Json }
  if (message['type'] === 'control_response') {
    const { request_id, response } = message.response as { request_id: string; response: Json }
    waiting.get(request_id)?.(response)
  }
  if (message['type'] === 'user') void play(message.uuid, textOf(message.message?.content))
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content)
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('')
}

if (process.argv.includes('--version')) {
  console.log('2.1.0 (player)')
} else {
  const lines = createLineSplitter({ onLine: (line) => receive(line.toString()) })
  process.stdin.on('data', (bytes: Buffer) => lines.push(bytes))
}
