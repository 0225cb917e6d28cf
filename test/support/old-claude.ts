/**
 * A claude of an older version, without a model: it never says which message it has, runs one that comes twice twice, and
 * answers no request but `mcp_status`, which all versions know. Every message is a line of the file `asked` in its directory;
 * it is answered when there is a file `go`.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { until } from './wait.ts'
import { createLineSplitter } from '../../src/transports/ndjson.ts'

interface Line {
  type: string
  request_id?: string
  request?: { subtype: string }
  message?: { content: unknown }
}

const session_id = 'old'
const waiting: unknown[] = []
let busy = false

function send(line: object): void {
  process.stdout.write(`${JSON.stringify({ ...line, session_id })}\n`)
}

async function answer(content: unknown): Promise<void> {
  busy = true
  appendFileSync('asked', `${JSON.stringify(content)}\n`)
  send({ type: 'system', subtype: 'init', model: 'old-model', permissionMode: 'default', tools: [] })
  await until(() => existsSync('go'))
  const text = `heard ${String(content)}`
  const id = crypto.randomUUID()
  send({ type: 'assistant', parent_tool_use_id: null, message: { id, content: [{ type: 'text', text }] } })
  send({ type: 'result', subtype: 'success', is_error: false, result: text })
  busy = false
  if (waiting.length > 0) await answer(waiting.shift())
}

function receive({ type, request_id, request, message }: Line): void {
  if (type === 'user') {
    if (busy) waiting.push(message?.content)
    else void answer(message?.content)
  } else if (request?.subtype === 'mcp_status') {
    send({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } })
  } else if (request?.subtype === 'end_session') process.exit(0)
}

if (process.argv.includes('--version')) {
  process.stdout.write('1.0.0 (Claude Code)\n')
  process.exit(0)
}
const lines = createLineSplitter({
  onLine: (line) => line.length > 0 && receive(JSON.parse(line.toString()) as Line),
})
process.stdin.on('data', (bytes: Buffer) => lines.push(bytes))
