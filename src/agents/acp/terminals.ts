import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Session } from '../../core/session.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { insideDirectory, Refused } from './files.ts'

const MAX_OUTPUT = 1024 * 1024
const MAX_TERMINALS = 32
const KILL_MS = 2000
const DRAIN_MS = 200

interface Terminal {
  sessionId: string
  /** The process that asked for it: when that is gone, so is the need. */
  runId: string | null
  child: ChildProcess
  output: Buffer
  truncated: boolean
  exit: Promise<ExitStatus>
  status: ExitStatus | null
}

interface ExitStatus {
  exitCode: number | null
  signal: string | null
}

type Method = (session: Session, params: JsonObject) => Promise<object>

/** `terminal/*`: commands that an agent lets its client run. They live as long as the daemon at the most. */
export function createTerminals(): Record<'create' | 'output' | 'wait' | 'kill' | 'release', Method> {
  const terminals = new Map<string, Terminal>()

  function found(session: Session, { terminalId }: JsonObject): Terminal {
    const terminal = terminals.get(asString(terminalId) ?? '')
    if (terminal?.sessionId !== session.id) throw new Refused('There is no such terminal')
    return terminal
  }

  /** What an earlier process of the session has left, and how many there are now. */
  function tidy({ id, run }: Session): number {
    let count = 0
    for (const [key, terminal] of terminals) {
      if (terminal.sessionId !== id) continue
      if (terminal.runId === (run?.id ?? null)) count++
      else drop(key, terminal)
    }
    return count
  }

  function drop(id: string, terminal: Terminal): void {
    terminals.delete(id)
    stop(terminal)
  }

  return {
    async create(session, params) {
      if (tidy(session) >= MAX_TERMINALS) throw new Refused(`${MAX_TERMINALS} terminals are open already`)
      const cwd = await insideDirectory(session, params.cwd ?? session.cwd)
      const terminalId = randomUUID()
      terminals.set(terminalId, await run(session, params, cwd))
      return { terminalId }
    },
    async output(session, params) {
      const { output, truncated, status } = found(session, params)
      return { output: output.toString('utf8'), truncated, ...(status && { exitStatus: status }) }
    },
    wait: async (session, params) => ({ ...(await found(session, params).exit) }),
    async kill(session, params) {
      stop(found(session, params))
      return {}
    },
    async release(session, params) {
      drop(asString(params.terminalId) ?? '', found(session, params))
      return {}
    },
  }
}

async function run(session: Session, params: JsonObject, cwd: string): Promise<Terminal> {
  const command = asString(params.command) ?? ''
  const args = asArray(params.args).filter((arg) => typeof arg === 'string')
  // A command of several words is meant for a shell.
  const [program, words] = args.length > 0 ? [command, args] : ['/bin/sh', ['-c', command]]
  const child = spawn(program, words, {
    cwd,
    env: environment(session, params),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const limit = typeof params.outputByteLimit === 'number' ? params.outputByteLimit : MAX_OUTPUT
  const terminal: Terminal = {
    sessionId: session.id,
    runId: session.run?.id ?? null,
    child,
    output: Buffer.alloc(0),
    truncated: false,
    exit: ended(child),
    status: null,
  }
  void terminal.exit.then((status) => (terminal.status = status))
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => keep(terminal, bytes, Math.min(Math.max(0, limit), MAX_OUTPUT)))
  }
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => reject(new Refused(`${program} cannot be run: ${error.message}`)))
  })
  return terminal
}

/** The mark of the run is what the host ends stray processes by. */
function environment(session: Session, params: JsonObject): NodeJS.ProcessEnv {
  const given = asArray(params.env).map((one) => asObject(one))
  return {
    ...process.env,
    ...Object.fromEntries(given.map(({ name, value }) => [asString(name) ?? '', asString(value) ?? ''])),
    ...(session.run && { CORRAL_RUN: session.run.id }),
    CORRAL_SESSION_ID: session.id,
  }
}

/** Its output may be held open by what it leaves behind: that is not waited for. */
function ended(child: ChildProcess): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => {
      child.once('close', () => resolve({ exitCode, signal }))
      setTimeout(() => resolve({ exitCode, signal }), DRAIN_MS).unref()
    })
    child.once('error', () => resolve({ exitCode: null, signal: null }))
  })
}

/** The end of the output is kept, cut between characters. */
function keep(terminal: Terminal, bytes: Buffer, limit: number): void {
  const all = Buffer.concat([terminal.output, bytes])
  let from = Math.max(0, all.length - limit)
  if (from > 0) terminal.truncated = true
  while (from > 0 && from < all.length && (all[from]! & 0xc0) === 0x80) from++
  terminal.output = all.subarray(from)
}

/** By its group, while there is one of that number. */
function stop({ child }: Terminal): void {
  signal(child, 'SIGTERM')
  setTimeout(() => signal(child, 'SIGKILL'), KILL_MS).unref()
}

function signal({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, name)
  } catch {
    // It is gone.
  }
}
