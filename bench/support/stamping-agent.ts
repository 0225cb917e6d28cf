/**
 * Plays Claude Code: answers with `STAMP_MESSAGES` messages of `STAMPS` pieces of text, one every `STAMP_EVERY_MS` (0: as fast
 * as they can be written), and each piece is the time at which it is written. The monotonic clock is the same for all processes of a machine.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const COUNT = Number(process.env['STAMPS'] ?? 200)
const EVERY_MS = Number(process.env['STAMP_EVERY_MS'] ?? 5)
const MESSAGES = Number(process.env['STAMP_MESSAGES'] ?? 1)
const session = { session_id: '00000000-0000-4000-8000-000000000000', parent_tool_use_id: null }
let messages = 0

function emit(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

async function answer(turnId: string): Promise<void> {
  emit({ type: 'command_lifecycle', command_uuid: turnId, state: 'started', ...session })
  emit({ type: 'system', subtype: 'init', model: 'stamps', claude_code_version: '1.0.0', ...session })
  for (let n = 0; n < MESSAGES; n++) await say()
  emit({ type: 'result', subtype: 'success', is_error: false, result: 'stamped', num_turns: 1, ...session })
}

async function say(): Promise<void> {
  const id = `msg_${++messages}`
  const stream = (event: object): void =>
    emit({ type: 'stream_event', event, ...session, api_message_id: id })
  stream({ type: 'message_start', message: { id } })
  stream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  for (let i = 0; i < COUNT; i++) {
    if (EVERY_MS > 0) await setTimeout(EVERY_MS)
    const text = `<${process.hrtime.bigint()}>`
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  }
  emit({ type: 'assistant', message: { id, content: [{ type: 'text', text: 'stamped' }] }, ...session })
}

if (process.argv.includes('--version')) {
  console.log('1.0.0 (stamps)')
} else {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line) as { type: string; uuid: string }
    if (message.type === 'user') void answer(message.uuid)
  })
}
