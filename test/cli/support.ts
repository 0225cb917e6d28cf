import { spawn, type ChildProcess } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { COMPILED, startDaemon, type TestDaemon } from '../support/daemon.ts'
import { MAIN } from '../support/program.ts'
import { arrival, exitOf } from '../support/wait.ts'

export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
  /** stdout as NDJSON. */
  json<T = Record<string, unknown>>(): T[]
}

export interface RunOptions {
  input?: string
  execArgv?: string[]
  program?: string
  cwd?: string
}

/** One command line, as a real process. */
export async function corral(
  env: NodeJS.ProcessEnv,
  args: string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [...(options.execArgv ?? []), options.program ?? MAIN, ...args], {
    env,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  let stdout = ''
  let stderr = ''
  // A character may come in two chunks.
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await exitOf(child, () => `corral ${args.join(' ')} ends; it says:\n${stdout}\n${stderr}`)
  const lines = stdout.split('\n').filter(Boolean)
  return { code, stdout, stderr, json: <T>() => lines.map((line) => JSON.parse(line) as T) }
}

export async function daemonFor(t: TestContext): Promise<TestDaemon> {
  const daemon = await startDaemon()
  t.after(() => daemon.stop())
  return daemon
}

/** A new demo session's id. It asks about nothing, unless told. */
export async function newSession(daemon: TestDaemon, ...options: string[]): Promise<string> {
  const usual = ['--agent', 'demo', '--mode', 'auto', '--cwd', daemon.project]
  const { stdout } = await corral(daemon.env, ['new', ...usual, ...options])
  return stdout.trim()
}

export const hasScript = spawnSync('script', ['--version']).status === 0

/** A command in a pseudo-terminal. */
export interface Terminal {
  /** Waits until what was printed since the last wait contains this. */
  expect(text: string): Promise<string>
  type(text: string): void
  /** What nobody has waited for yet. */
  rest(): string
  exited: Promise<number | null>
}

/** `term`: one that is `dumb` cannot be drawn on. */
export function inTerminal(t: TestContext, env: NodeJS.ProcessEnv, args: string[], term = 'xterm'): Terminal {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const child: ChildProcess = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { ...env, TERM: term, SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let unseen = ''
  let wake = (): void => {}
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    unseen += text
    wake()
  })
  // Not at its exit: its last words may still be on their way then.
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  let isOver = false
  void exited.then(() => {
    isOver = true
    wake()
  })
  return {
    exited,
    rest: () => unseen,
    type: (text) => void child.stdin!.write(text),
    async expect(text) {
      while (!unseen.includes(text)) {
        if (isOver) throw new Error(`no ${text} in:\n${unseen}`)
        const more = new Promise<void>((resolve) => (wake = resolve))
        await arrival(more, () => `${text} in:\n${unseen}`)
      }
      const end = unseen.indexOf(text) + text.length
      const seen = unseen.slice(0, end)
      unseen = unseen.slice(end)
      return seen
    },
  }
}

/** A user of their own, without a daemon; one that was started is stopped afterwards. */
export function stranger(t: TestContext): { env: NodeJS.ProcessEnv; home: string; project: string } {
  const user = mkdtempSync(join(tmpdir(), 'corral-cli-'))
  const home = join(user, '.corral')
  const project = join(user, 'project')
  mkdirSync(project)
  const env = {
    PATH: process.env['PATH'],
    ...COMPILED,
    HOME: user,
    CORRAL_HOME: home,
    CORRAL_PORT: '0',
    CORRAL_CODECAST_PORT: '0',
    CORRAL_CLAWDE_PORT: '0',
    CORRAL_RELAY_PORT: '0',
    CORRAL_DEMO_STATE: join(user, 'demo'),
  }
  t.after(async () => {
    await corral(env, ['stop', '--now'])
    rmSync(user, { recursive: true, force: true })
  })
  return { env, home, project }
}
