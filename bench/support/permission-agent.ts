/**
 * Plays Claude Code: asks `COUNT` times whether it may, each time waits for the answer, and says at what time it had it.
 * The monotonic clock is the same for all processes of a machine.
 */
import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const COUNT = 300
const REST_MS = 3
const session = { session_id: '00000000-0000-4000-8000-000000000000', parent_tool_use_id: null }
let answered: (at: bigint) => void = () => undefined
let rest = ''

function emit(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

async function work(turnId: string): Promise<void> {
  emit({ type: 'command_lifecycle', command_uuid: turnId, state: 'started', ...session })
  emit({ type: 'system', subtype: 'init', model: 'asks', claude_code_version: '1.0.0', ...session })
  for (let i = 0; i < COUNT; i++) {
    const id = `${turnId}-${i}`
    const answer = new Promise<bigint>((resolve) => (answered = resolve))
    const request = {
      subtype: 'can_use_tool',
      tool_name: 'Bash',
      input: { command: 'true' },
      tool_use_id: id,
    }
    emit({ type: 'control_request', request_id: id, request })
    const content = [{ type: 'text', text: `<${await answer}>` }]
    emit({ type: 'assistant', message: { id: `msg_${id}`, content }, ...session })
    await setTimeout(REST_MS)
  }
  emit({ type: 'result', subtype: 'success', is_error: false, result: 'done', num_turns: 1, ...session })
}

function receive(line: string, at: bigint): void {
  const message = JSON.parse(line) as { type: string; uuid: string }
  if (message.type === 'user') void work(message.uuid)
  if (message.type === 'control_response') answered(at)
}

if (process.argv.includes('--version')) {
  console.log('1.0.0 (asks)')
} else {
  process.stdin.on('data', (bytes: Buffer) => {
    const at = process.hrtime.bigint()
    const lines = (rest + bytes.toString()).split('\n')
    rest = lines.pop()!
    for (const line of lines) receive(line, at)
  })
}
