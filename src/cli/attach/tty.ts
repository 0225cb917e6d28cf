import { writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { Cli } from '../cli.ts'
import { createKeyReader, type Press } from './keys.ts'

/** Pastes are told as such, and newer terminals tell Shift+Enter from Enter. */
const ON = '\u001b[?2004h\u001b[>1u'
const OFF = '\u001b[<u\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?2026l\u001b[0m'

const STDOUT = 1

/** How long the rest of a sequence may take; an escape that nothing follows is the key. */
const ESCAPE_MS = 50
const WAKE_MS = 100

export interface Tty {
  write(text: string): void
  size(): { columns: number; rows: number }
  /** Gives the terminal back until somebody brings the program to the front again. */
  suspend(): void
  close(): void
}

export interface TtyEvents {
  press(press: Press): void
  /** Another size, or the screen shows something else now. */
  changed(): void
  /** Somebody wants the program to end, or the terminal has gone. */
  leave(): void
}

/** Whether the terminal is ours: keys as they come, and no echo. */
function modesOf({ stdin, stdout }: Pick<Cli, 'stdin' | 'stdout'>) {
  let isOurs = false
  return {
    isOurs: () => isOurs,
    take() {
      isOurs = true
      stdin.setRawMode(true)
      stdout.write(ON)
    },
    giveBack() {
      if (!isOurs) return
      isOurs = false
      try {
        writeSync(STDOUT, OFF)
        stdin.setRawMode(false)
      } catch {
        // The terminal has gone, and there is nothing to give back.
      }
    },
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The terminal, key by key. However the program ends, the terminal is as it was. */
export function openTty({ stdin, stdout }: Pick<Cli, 'stdin' | 'stdout'>, events: TtyEvents): Tty {
  const reader = createKeyReader()
  const decoder = new StringDecoder('utf8')
  const modes = modesOf({ stdin, stdout })
  let escape: NodeJS.Timeout | undefined
  let waking: NodeJS.Timeout | undefined

  function receive(data: Buffer): void {
    clearTimeout(escape)
    for (const press of reader.push(decoder.write(data))) events.press(press)
    if (reader.isWaiting()) escape = setTimeout(() => reader.flush().forEach(events.press), ESCAPE_MS)
  }

  function again(): void {
    clearTimeout(waking)
    if (modes.isOurs()) return
    modes.take()
    events.changed()
  }

  for (const signal of SIGNALS) process.on(signal, events.leave)
  process.on('exit', modes.giveBack)
  stdout.on('resize', events.changed)
  stdin.on('data', receive).on('end', events.leave).on('error', events.leave)
  modes.take()
  stdin.resume()

  return {
    write: (text) => void stdout.write(text),
    size: () => ({ columns: Math.max(10, stdout.columns || 80), rows: Math.max(5, stdout.rows || 24) }),
    suspend() {
      modes.giveBack()
      process.once('SIGCONT', again)
      process.kill(0, 'SIGTSTP')
      // Time passes only for who is not stopped: nobody would ever bring back who has no shell.
      waking = setTimeout(again, WAKE_MS)
    },
    close() {
      clearTimeout(escape)
      clearTimeout(waking)
      modes.giveBack()
      for (const signal of SIGNALS) process.off(signal, events.leave)
      process.off('exit', modes.giveBack)
      process.off('SIGCONT', again)
      stdout.off('resize', events.changed)
      stdin.off('data', receive).off('end', events.leave).off('error', events.leave).pause()
    },
  }
}
