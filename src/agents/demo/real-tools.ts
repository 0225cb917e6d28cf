import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, relative, resolve, sep } from 'node:path'
import type { DemoDecision } from './protocol.ts'
import type { ToolCall, ToolResult } from './tools.ts'

const RUN_MS = 20_000
const OUTPUT_CHARS = 10_000

/** What the result of a refused call begins with. */
export const REFUSED = 'Refused: '

/** Carries out a call of the tour, in its own directory: a file is written, a command is run as it was allowed. */
export async function perform(
  call: ToolCall,
  decision: DemoDecision | null,
  directory: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (decision?.behavior === 'deny') return { output: `${REFUSED}${decision.comment ?? ''}`, isError: true }
  const input = (decision?.input ?? call.input) as { path?: unknown; content?: unknown; command?: unknown }
  const { path, content, command } = input
  if (call.tool === 'Write' && typeof path === 'string' && typeof content === 'string')
    return write(directory, path, content)
  if (call.tool === 'Shell' && typeof command === 'string') return run(directory, command, signal)
  return { output: `The demo agent cannot do that with ${call.tool}`, isError: true }
}

async function write(directory: string, path: string, content: string): Promise<ToolResult> {
  const file = resolve(directory, path)
  const inside = relative(directory, file)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`))
    return { output: `${path} is not inside ${directory}`, isError: true }
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    return { output: `Wrote ${content.split('\n').length - 1} lines to ${inside}`, isError: false }
  } catch (error) {
    return { output: (error as Error).message, isError: true }
  }
}

function run(directory: string, command: string, signal: AbortSignal): Promise<ToolResult> {
  // The daemon's own Node, whether or not there is another one.
  const PATH = [dirname(process.execPath), process.env['PATH']].filter(Boolean).join(delimiter)
  const env = { ...process.env, PATH, NODE_TEST_CONTEXT: undefined }
  return new Promise((done) => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: directory,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS,
      signal,
    })
    let output = ''
    const hear = (data: Buffer): void => void (output = (output + data.toString()).slice(0, OUTPUT_CHARS))
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('error', (error) => done({ output: error.message, isError: true }))
    child.on('close', (code) => done({ output: output.trimEnd(), isError: code !== 0 }))
  })
}
