import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Session } from '../../core/session.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { insideDirectory, Refused } from './files.ts'
import { createTail, type Tail } from './tail.ts'

const MAX_OUTPUT = 1024 * 1024
const MAX_TERMINALS = 32
const KILL_MS = 2000
const DRAIN_MS = 200
/** Who says more than is kept is not listened to all the time. */
const BREATH_MS = 2

interface Terminal {
  sessionId: string
  /** The process that asked for it: when that is gone, so is the need. */
  runId: string | null
  child: ChildProcess
  output: Tail
  exit: Promise<ExitStatus>
  status: ExitStatus | null
}

interface Start {
  sessionId: string
  /** Its session, or the daemon, went while it started. */
  unwanted: boolean
}

interface ExitStatus {
  exitCode: number | null
  signal: string | null
}

type Method = (session: Session, params: JsonObject) => Promise<object>

export interface Terminals extends Record<'create' | 'output' | 'wait' | 'kill' | 'release', Method> {
  /** Ends those of a session, whose process is gone. */
  drop(sessionId: string): void
  /** Ends them all, at once: nobody is there any more to see to it. */
  letGo(): void
}

/** `terminal/*`: commands that an agent lets its client run. They live as long as its process, or the daemon. */
export function createTerminals(): Terminals {
  const terminals = new Map<string, Terminal>()
  /** Those that are being started. */
  const starting = new Set<Start>()

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
      else remove(key, terminal)
    }
    return count + [...starting].filter(({ sessionId }) => sessionId === id).length
  }

  function remove(id: string, terminal: Terminal): void {
    terminals.delete(id)
    stop(terminal)
  }

  /** Counted from the first moment: what is asked for at once is started at once. */
  async function start(session: Session, params: JsonObject): Promise<Terminal> {
    const one: Start = { sessionId: session.id, unwanted: false }
    starting.add(one)
    try {
      const cwd = await insideDirectory(session, params.cwd ?? session.cwd)
      const terminal = await run(session, params, cwd)
      if (!one.unwanted) return terminal
      signal(terminal.child, 'SIGKILL')
      throw new Refused('The agent that asked for it is gone')
    } finally {
      starting.delete(one)
    }
  }

  return {
    async create(session, params) {
      if (tidy(session) >= MAX_TERMINALS) throw new Refused(`${MAX_TERMINALS} terminals are open already`)
      const terminalId = randomUUID()
      terminals.set(terminalId, await start(session, params))
      return { terminalId }
    },
    async output(session, params) {
      const { output, status } = found(session, params)
      const { truncated } = output
      return { output: output.text(), truncated, ...(status && { exitStatus: status }) }
    },
    wait: async (session, params) => ({ ...(await found(session, params).exit) }),
    async kill(session, params) {
      stop(found(session, params))
      return {}
    },
    async release(session, params) {
      remove(asString(params.terminalId) ?? '', found(session, params))
      return {}
    },
    drop(sessionId) {
      for (const one of starting) one.unwanted ||= one.sessionId === sessionId
      for (const [id, terminal] of terminals) if (terminal.sessionId === sessionId) remove(id, terminal)
    },
    letGo() {
      for (const one of starting) one.unwanted = true
      for (const { child } of terminals.values()) signal(child, 'SIGKILL')
      terminals.clear()
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
    output: createTail(Math.min(Math.max(0, limit), MAX_OUTPUT)),
    exit: ended(child),
    status: null,
  }
  void terminal.exit.then((status) => (terminal.status = status))
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      terminal.output.push(bytes)
      if (!terminal.output.truncated) return
      stream.pause()
      setTimeout(() => stream.resume(), BREATH_MS).unref()
    })
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
