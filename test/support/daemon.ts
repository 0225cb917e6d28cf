import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunFile } from '../../src/system/run-file.ts'
import { MAIN } from './program.ts'
import { arrival, until } from './wait.ts'

/** Where the test runner keeps what it has compiled: hundreds of processes of the same program start faster with it. */
export const COMPILED = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }

export interface TestDaemonOptions {
  /** A directory of an earlier one; a new temporary one by default, removed at the end. */
  home?: string
  env?: NodeJS.ProcessEnv
  args?: string[]
  /** Another program than ours. */
  program?: string
}

export interface TestDaemon {
  /** The user's home; Corral's own directory is `.corral` below it. */
  readonly home: string
  readonly corralHome: string
  readonly env: NodeJS.ProcessEnv
  readonly pid: number
  /** Base URL of the Codecast listener. */
  readonly codecast: string
  /** The native socket. */
  readonly socket: string
  readonly project: string
  readonly listeners: Record<string, string>
  /** What it has printed. */
  output(): string
  kill9(): Promise<void>
  /** SIGTERM: ends agents as well. Waits for the end. */
  terminate(): Promise<number | null>
  /** Starts it again on the same directories. */
  restart(): Promise<void>
  /** Ends everything and removes every file. */
  stop(): Promise<void>
}

/** Whether agents run that a daemon would have to end; each has a directory, and says there that it has ended. */
export function leftAgents(corralHome: string): boolean {
  const runs = join(corralHome, 'runs')
  return existsSync(runs) && readdirSync(runs).some((run) => !existsSync(join(runs, run, 'exit')))
}

/** The real program in a process of its own, with nothing of this machine's user in its environment. */
export async function startDaemon(options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'corral-'))
  const corralHome = join(home, '.corral')
  const project = join(home, 'project')
  const tmp = join(home, 'tmp')
  for (const dir of [project, tmp]) mkdirSync(dir, { recursive: true })
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    ...COMPILED,
    CORRAL_VERIFY: process.env['CORRAL_VERIFY'],
    HOME: home,
    TMPDIR: tmp,
    CORRAL_HOME: corralHome,
    CORRAL_PORT: '0',
    CORRAL_CODECAST_PORT: '0',
    CORRAL_CLAWDE_PORT: '0',
    CORRAL_RELAY_PORT: '0',
    CORRAL_DEMO_STATE: join(home, 'demo'),
    // On a busy machine an agent may need longer to stop than people would wait.
    CORRAL_AGENTS_INTERRUPT_MS: '10000',
    CORRAL_CHECKPOINTS_WAIT_MS: '60000',
    ...options.env,
  }
  const runFile = join(corralHome, 'run.json')
  let child: ChildProcess
  let printed = ''
  let info: RunFile

  /** Waits for it; a daemon that never gets there is not left behind. */
  async function orKilled<T>(waited: Promise<T>): Promise<T> {
    return waited.catch((error: unknown) => {
      child.kill('SIGKILL')
      throw error
    })
  }

  async function start(): Promise<void> {
    rmSync(runFile, { force: true })
    child = spawn(process.execPath, [options.program ?? MAIN, 'start', ...(options.args ?? [])], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
    await orKilled(
      until(
        () => existsSync(runFile) || isOver(),
        () => `the daemon has started:\n${printed}`,
      ),
    )
    if (!existsSync(runFile)) throw new Error(`the daemon did not start:\n${printed}`)
    info = JSON.parse(readFileSync(runFile, 'utf8')) as RunFile
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exited = once(child, 'exit')
    child.kill(signal)
    const [code] = await orKilled(arrival(exited, () => `the daemon has ended by ${signal}:\n${printed}`))
    return code as number | null
  }

  await start()
  return {
    home,
    corralHome,
    env,
    project,
    get pid() {
      return child.pid!
    },
    get codecast() {
      return info.listeners['codecast']!
    },
    get socket() {
      return info.listeners['native']!
    },
    get listeners() {
      return info.listeners
    },
    output: () => printed,
    async kill9() {
      await end('SIGKILL')
    },
    terminate: () => end('SIGTERM'),
    restart: start,
    async stop() {
      // A daemon that was killed may have left agents behind: the next one takes them up and ends them.
      if (child.signalCode === 'SIGKILL' && leftAgents(corralHome)) await start().catch(() => undefined)
      await end('SIGTERM')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
