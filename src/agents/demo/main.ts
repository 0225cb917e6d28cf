import { parseArgs } from 'node:util'
import { isMode } from '../../core/mode.ts'
import { Conversation } from './conversation.ts'
import { isDeafTo, withFault } from './fault.ts'
import { parseInput } from './input.ts'
import { lineSplitter } from './lines.ts'
import { type Beginning, openMemory, stateDirectory } from './memory.ts'
import { createOutput, type Output } from './output.ts'
import { DEFAULT_MODEL, DEMO_MODELS, DEMO_TITLE, DEMO_VERSION } from './protocol.ts'
import { stageAt } from './tour.ts'

const MAX_LINE_BYTES = 128 * 1024 * 1024

function main(args: string[], env: NodeJS.ProcessEnv): void {
  const { values } = parseArgs({
    args,
    options: {
      resume: { type: 'string' },
      fork: { type: 'string' },
      at: { type: 'string' },
      mode: { type: 'string', default: 'ask' },
      model: { type: 'string', default: DEFAULT_MODEL },
    },
  })
  const fault = env['CORRAL_DEMO_FAULT']
  const output = withFault(createOutput(1), fault)
  const memory = openMemory(stateDirectory(env), beginning(values))
  const conversation = new Conversation({
    output,
    memory,
    directory: process.cwd(),
    stage: stageAt(process.cwd(), env),
    mode: isMode(values.mode) ? values.mode : 'ask',
    model: values.model,
    clock: () => performance.now(),
    finished: () => process.exit(),
  })
  if (fault !== 'deaf') listenForSignals(conversation)
  output.emit({
    type: 'ready',
    conversationId: memory?.id ?? null,
    model: values.model,
    version: DEMO_VERSION,
    about: `${DEMO_TITLE}: obeys a script in the prompt, its tools are pretence`,
  })
  output.emit({ type: 'models', models: DEMO_MODELS })
  readInput(conversation, output, fault)
}

function beginning({ resume, fork, at }: { resume?: string; fork?: string; at?: string }): Beginning {
  if (resume !== undefined) return { from: 'resume', id: resume }
  return fork === undefined ? { from: 'new' } : { from: 'fork', id: fork, at: at ?? null }
}

function listenForSignals(conversation: Conversation): void {
  process.on('SIGTERM', () => process.exit(143))
  process.on('SIGINT', () => {
    process.exitCode = 130
    conversation.interrupt()
    conversation.finish(true)
  })
}

function readInput(conversation: Conversation, output: Output, fault: string | undefined): void {
  const ignored = (message: string) => output.emit({ type: 'notice', code: 'bad_line', message })
  const split = lineSplitter(
    MAX_LINE_BYTES,
    (bytes) => {
      if (bytes.length === 0) return
      const line = parseInput(bytes)
      if (line && isDeafTo(fault, line)) return
      if (line) conversation.receive(line)
      else ignored('a line on stdin is not of the protocol and was ignored')
    },
    (size) => ignored(`a line of ${size} bytes on stdin was ignored`),
  )
  process.stdin.on('data', split)
  process.stdin.on('end', () => conversation.finish(true))
}

main(process.argv.slice(2), process.env)
