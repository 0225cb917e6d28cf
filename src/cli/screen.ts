import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline'
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
  const screen = cli.interactive ? new Terminal(cli, events) : pipe(cli, events)
  return {
    write: (text) => screen.write(text),
    setPrompt: (prompt) => screen.setPrompt(prompt),
    close() {
      process.off('SIGINT', events.leave)
      process.off('SIGTERM', events.leave)
      screen.close()
    },
  }
}

/** Each line of a pipe is a message; the end of the pipe ends nothing. */
function pipe(cli: Cli, events: ScreenEvents): Screen {
  const splitter = createLineSplitter({ onLine: (line) => events.line(line.toString()) })
  const receive = (chunk: Buffer): void => splitter.push(chunk)
  const reads = !cli.stdin.isTTY
  let atLineStart = true
  if (reads) cli.stdin.on('data', receive).once('end', () => splitter.end())
  return {
    write(text) {
      if (text !== '') atLineStart = text.endsWith('\n')
      cli.stdout.write(text)
    },
    setPrompt() {},
    close() {
      if (!atLineStart) cli.stdout.write('\n')
      if (reads) cli.stdin.off('data', receive).pause()
    },
  }
}

/**
 * The prompt is shown while nothing is being written. What arrives while somebody types waits until the line is sent, so
 * that neither tears the other apart.
 */
class Terminal implements Screen {
  readonly #stdin: Cli['stdin']
  readonly #stdout: Cli['stdout']
  readonly #events: ScreenEvents
  readonly #input: Interface
  #shown = false
  #atLineStart = true
  #held = ''
  #scheduled: NodeJS.Immediate | null = null
  readonly #show = (): void => this.#showPrompt()

  constructor({ stdin, stdout }: Cli, events: ScreenEvents) {
    this.#stdin = stdin
    this.#stdout = stdout
    this.#events = events
    this.#input = createInterface({ input: stdin, output: stdout, prompt: '> ' })
    stdin.prependListener('keypress', this.#show)
    this.#input.on('line', (text) => this.#typed(text))
    this.#input.on('SIGINT', events.leave)
    this.#input.on('close', events.leave)
    this.#promptSoon()
  }

  write(text: string): void {
    if (text === '') return
    this.#held += text
    if (!this.#shown || this.#input.line === '' || this.#held.length > MAX_HELD) this.#release()
  }

  setPrompt(prompt: string): void {
    if (prompt === this.#input.getPrompt()) return
    this.#input.setPrompt(prompt)
    if (this.#shown) this.#input.prompt(true)
  }

  close(): void {
    this.#cancelPrompt()
    this.#stdin.off('keypress', this.#show)
    this.#input.off('close', this.#events.leave)
    this.#hidePrompt()
    if (!this.#atLineStart) this.#stdout.write('\n')
    this.#input.close()
  }

  #typed(text: string): void {
    this.#shown = false
    this.#atLineStart = true
    this.#release()
    this.#events.line(text)
    this.#promptSoon()
  }

  #release(): void {
    if (this.#held === '') return
    this.#hidePrompt()
    this.#stdout.write(this.#held)
    this.#atLineStart = this.#held.endsWith('\n')
    this.#held = ''
    if (this.#atLineStart) this.#promptSoon()
    else this.#cancelPrompt()
  }

  #promptSoon(): void {
    this.#scheduled ??= setImmediate(this.#show)
  }

  #cancelPrompt(): void {
    if (this.#scheduled) clearImmediate(this.#scheduled)
    this.#scheduled = null
  }

  #showPrompt(): void {
    this.#scheduled = null
    if (this.#shown) return
    if (!this.#atLineStart) this.#stdout.write('\n')
    this.#atLineStart = true
    this.#shown = true
    this.#input.prompt(true)
  }

  #hidePrompt(): void {
    if (!this.#shown) return
    cursorTo(this.#stdout, 0)
    clearLine(this.#stdout, 0)
    this.#shown = false
  }
}
