import { clearLine, createInterface, cursorTo } from 'node:readline'
import { createLineSplitter } from '../transports/ndjson.ts'
import type { Cli } from './cli.ts'

const MAX_HELD = 256 * 1024

/** Where a live view writes, and where its lines come from. */
export interface Screen {
  write(text: string): void
  setPrompt(prompt: string): void
  close(): void
}

export interface ScreenEvents {
  line(text: string): void
  /** Ctrl-C, Ctrl-D or a signal. */
  leave(): void
}

export function openScreen(cli: Cli, events: ScreenEvents): Screen {
  process.on('SIGINT', events.leave)
  process.on('SIGTERM', events.leave)
  const screen = cli.interactive ? terminal(cli, events) : pipe(cli, events)
  return {
    ...screen,
    close() {
      process.off('SIGINT', events.leave)
      process.off('SIGTERM', events.leave)
      screen.close()
    },
  }
}

/** Lines of a pipe are messages; its end means nothing. */
function pipe(cli: Cli, events: ScreenEvents): Screen {
  const splitter = createLineSplitter({ onLine: (line) => events.line(line.toString()) })
  const receive = (chunk: Buffer): void => splitter.push(chunk)
  const reads = !cli.stdin.isTTY
  if (reads) cli.stdin.on('data', receive).once('end', () => splitter.end())
  return {
    write: (text) => void cli.stdout.write(text),
    setPrompt() {},
    close() {
      if (reads) cli.stdin.off('data', receive).pause()
    },
  }
}

/**
 * The prompt is there while nothing is being written; what arrives while somebody types waits until the line is sent, so
 * that neither tears the other apart.
 */
function terminal({ stdin, stdout }: Cli, events: ScreenEvents): Screen {
  const input = createInterface({ input: stdin, output: stdout, prompt: '> ' })
  let shown = false
  let lineStart = true
  let held = ''
  let scheduled: NodeJS.Immediate | null = null

  function show(): void {
    scheduled = null
    if (shown) return
    if (!lineStart) stdout.write('\n')
    lineStart = true
    shown = true
    input.prompt(true)
  }

  function hide(): void {
    if (!shown) return
    cursorTo(stdout, 0)
    clearLine(stdout, 0)
    shown = false
  }

  function write(text: string): void {
    if (text === '') return
    held += text
    if (!shown || input.line === '' || held.length > MAX_HELD) release()
  }

  function release(): void {
    if (held === '') return
    hide()
    stdout.write(held)
    lineStart = held.endsWith('\n')
    held = ''
    if (lineStart) return void (scheduled ??= setImmediate(show))
    if (scheduled) clearImmediate(scheduled)
    scheduled = null
  }

  const typed = (): void => show()
  stdin.prependListener('keypress', typed)
  input.on('line', (text) => {
    shown = false
    lineStart = true
    release()
    events.line(text)
    scheduled ??= setImmediate(show)
  })
  input.on('SIGINT', events.leave)
  input.on('close', events.leave)
  scheduled = setImmediate(show)

  return {
    write,
    setPrompt(prompt) {
      if (prompt === input.getPrompt()) return
      input.setPrompt(prompt)
      if (shown) input.prompt(true)
    },
    close() {
      if (scheduled) clearImmediate(scheduled)
      stdin.off('keypress', typed)
      input.off('close', events.leave)
      hide()
      if (!lineStart) stdout.write('\n')
      input.close()
    },
  }
}
