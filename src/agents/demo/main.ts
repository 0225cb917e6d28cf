import { parseArgs } from 'node:util'
import { isMode } from '../../core/mode.ts'
import { createConversation } from './conversation.ts'
import { isDeafTo, withFault } from './fault.ts'
import { parseInput } from './input.ts'
import { lineSplitter } from './lines.ts'
import { type Beginning, openMemory, stateDirectory } from './memory.ts'
import { createOutput } from './output.ts'
import { DEFAULT_MODEL, DEMO_MODELS, DEMO_TITLE, DEMO_VERSION } from './protocol.ts'

const MAX_LINE_BYTES = 128 * 1024 * 1024

const { values } = parseArgs({
  options: {
    resume: { type: 'string' },
    fork: { type: 'string' },
    mode: { type: 'string', default: 'ask' },
    model: { type: 'string', default: DEFAULT_MODEL },
  },
})

function beginning(): Beginning {
  if (values.resume !== undefined) return { from: 'resume', id: values.resume }
  return values.fork === undefined ? { from: 'new' } : { from: 'fork', id: values.fork }
}

const fault = process.env['CORRAL_DEMO_FAULT']
const output = withFault(createOutput(1), fault)
const memory = openMemory(stateDirectory(process.env), beginning())
let exitCode = 0
const conversation = createConversation({
  output,
  memory,
  directory: process.cwd(),
  mode: isMode(values.mode) ? values.mode : 'ask',
  model: values.model,
  clock: () => performance.now(),
  finished: () => process.exit(exitCode),
})

function stop(code: number): void {
  exitCode = code
  conversation.interrupt()
  conversation.finish(true)
}

if (fault !== 'deaf') {
  process.on('SIGTERM', () => process.exit(143))
  process.on('SIGINT', () => stop(130))
}

output.emit({
  type: 'ready',
  conversationId: memory?.id ?? null,
  model: values.model,
  version: DEMO_VERSION,
  about: `${DEMO_TITLE}: obeys a script in the prompt, its tools are pretence`,
})
output.emit({ type: 'models', models: DEMO_MODELS })

const notice = (code: string, message: string) => output.emit({ type: 'notice', code, message })
const split = lineSplitter(
  MAX_LINE_BYTES,
  (bytes) => {
    if (bytes.length === 0) return
    const line = parseInput(bytes)
    if (line && isDeafTo(fault, line)) return
    if (line) conversation.receive(line)
    else notice('bad_line', 'a line on stdin is not of the protocol and was ignored')
  },
  (size) => notice('bad_line', `a line of ${size} bytes on stdin was ignored`),
)
process.stdin.on('data', split)
process.stdin.on('end', () => conversation.finish(true))
