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
  child: ChildProcess
  output: Tail
  exit: Promise<ExitStatus>
  status: ExitStatus | null
}

interface ExitStatus {
  exitCode: number | null
  signal: string | null
}

/** `terminal/*`: commands that one process of an agent lets its client run. They live as long as that process, or the daemon. */
export class Terminals {
  readonly #env: NodeJS.ProcessEnv
  readonly #terminals = new Map<string, Terminal>()
  /** How many are being started; they are counted from the first moment, since many may be asked for at once. */
  #starting = 0
  /** The agent's process, or the daemon, is gone. */
  #ended = false

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  async create(session: Session, params: JsonObject): Promise<object> {
    if (this.#terminals.size + this.#starting >= MAX_TERMINALS)
      throw new Refused(`${MAX_TERMINALS} terminals are open already`)
    this.#starting++
    try {
      const cwd = await insideDirectory(session, params.cwd ?? session.cwd)
      const terminal = await run(params, cwd, environment(this.#env, session, params))
      if (this.#ended) {
        signal(terminal.child, 'SIGKILL')
        throw new Refused('The agent that asked for it is gone')
      }
      const terminalId = randomUUID()
      this.#terminals.set(terminalId, terminal)
      return { terminalId }
    } finally {
      this.#starting--
    }
  }

  async output(params: JsonObject): Promise<object> {
    const { output, status } = this.#found(params)
    const { truncated } = output
    return { output: output.text(), truncated, ...(status && { exitStatus: status }) }
  }

  async wait(params: JsonObject): Promise<object> {
    return { ...(await this.#found(params).exit) }
  }

  async kill(params: JsonObject): Promise<object> {
    stop(this.#found(params))
    return {}
  }

  async release(params: JsonObject): Promise<object> {
    const terminal = this.#found(params)
    this.#terminals.delete(asString(params.terminalId) ?? '')
    stop(terminal)
    return {}
  }

  /** Ends them all: the agent's process is gone. */
  end(): void {
    this.#ended = true
    for (const terminal of this.#terminals.values()) stop(terminal)
    this.#terminals.clear()
  }

  /** Ends them at once: nobody will be there to see to it. */
  letGo(): void {
    this.#ended = true
    for (const { child } of this.#terminals.values()) signal(child, 'SIGKILL')
    this.#terminals.clear()
  }

  #found({ terminalId }: JsonObject): Terminal {
    const terminal = this.#terminals.get(asString(terminalId) ?? '')
    if (!terminal) throw new Refused('There is no such terminal')
    return terminal
  }
}

async function run(params: JsonObject, cwd: string, env: NodeJS.ProcessEnv): Promise<Terminal> {
  const command = asString(params.command) ?? ''
  const args = asArray(params.args).filter((arg) => typeof arg === 'string')
  // A command of several words is meant for a shell.
  const [program, words] = args.length > 0 ? [command, args] : ['/bin/sh', ['-c', command]]
  const child = spawn(program, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const limit = typeof params.outputByteLimit === 'number' ? params.outputByteLimit : MAX_OUTPUT
  const terminal: Terminal = {
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
function environment(env: NodeJS.ProcessEnv, session: Session, params: JsonObject): NodeJS.ProcessEnv {
  const given = asArray(params.env).map((one) => asObject(one))
  return {
    ...env,
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
