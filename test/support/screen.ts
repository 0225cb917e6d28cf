import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import headless from '@xterm/headless'
import { until } from './wait.ts'

const HELPER = join(import.meta.dirname, 'in-terminal.py')

/** Why there is no pseudo-terminal here; null: there is. */
export const NO_PTY: string | null =
  spawnSync('python3', ['-c', 'import pty, termios']).status === 0
    ? null
    : 'needs python3 with its module pty'

/** A program on the screen of a real terminal emulator. */
export interface TestScreen {
  type(text: string): void
  /** As a terminal tells it to who wants to know. */
  paste(text: string): void
  resize(columns: number, rows: number): Promise<void>
  kill(signal: 'TERM' | 'HUP' | 'KILL'): void
  /** What is on the screen now, without the spaces at the ends of lines. */
  text(): string
  /** With what has left it at the top. */
  all(): string
  /** Everything that was written, as it came. */
  raw(): string
  /** The column and the row of the cursor, from 0. */
  cursor(): [number, number]
  /** Whether pastes are told as such. */
  wantsPastes(): boolean
  /** Waits until the screen has this. */
  sees(words: string | RegExp): Promise<string>
  lacks(words: string): Promise<void>
  exited: Promise<number | null>
}

export interface ScreenOptions {
  env: NodeJS.ProcessEnv
  columns?: number
  rows?: number
  /** It answers a program that asks what terminal it is, and where its cursor is. */
  answers?: boolean
}

export function onScreen(t: TestContext, command: readonly string[], options: ScreenOptions): TestScreen {
  const { env, columns = 80, rows = 24, answers = false } = options
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 })
  const child = spawn('python3', [HELPER, String(columns), String(rows), ...command], {
    env: { ...env, TERM: env['TERM'] ?? 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  t.after(() => {
    child.kill('SIGKILL')
    terminal.dispose()
  })
  const control = child.stdio[3] as Writable
  for (const stream of [child.stdin!, control]) stream.on('error', () => {})
  if (answers) terminal.onData((answer) => void child.stdin!.write(answer))
  let written = ''
  child.stdout!.on('data', (data: Buffer) => {
    written += data.toString()
    terminal.write(data)
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))

  function lines(from: number, to: number): string {
    const { active } = terminal.buffer
    const found = Array.from({ length: Math.max(0, to - from) }, (_, at) =>
      active
        .getLine(from + at)
        ?.translateToString(true)
        .trimEnd(),
    )
    return found.join('\n').trimEnd()
  }
  const text = (): string => {
    const { baseY } = terminal.buffer.active
    return lines(baseY, baseY + terminal.rows)
  }
  const has = (words: string | RegExp): boolean =>
    typeof words === 'string' ? text().includes(words) : words.test(text())

  let isOver = false
  void exited.then(() => (isOver = true))
  function failed(words: string | RegExp): boolean {
    if (!isOver) return false
    if (has(words)) return true
    throw new Error(`it has ended, and there is no ${String(words)} on the screen:\n${text()}`)
  }

  return {
    exited,
    text,
    all: () => lines(0, terminal.buffer.active.length),
    raw: () => written,
    cursor: () => [terminal.buffer.active.cursorX, terminal.buffer.active.cursorY],
    wantsPastes: () => terminal.modes.bracketedPasteMode,
    type: (keys) => void child.stdin!.write(keys),
    paste: (pasted) => void child.stdin!.write(`\u001b[200~${pasted.replaceAll('\n', '\r')}\u001b[201~`),
    async resize(width, height) {
      terminal.resize(width, height)
      control.write(`size ${width} ${height}\n`)
    },
    kill: (signal) => void control.write(`kill ${signal}\n`),
    async sees(words) {
      await until(
        () => has(words) || failed(words),
        () => `${String(words)} on the screen:\n${text()}`,
      )
      return text()
    },
    async lacks(words) {
      await until(
        () => !has(words),
        () => `no ${words} on the screen:\n${text()}`,
      )
    },
  }
}
