import { styleText } from 'node:util'
import { homeOf, socketOf } from '../config/paths.ts'
import type { ClientOptions, NativeClient } from '../client/client.ts'
import { CliError, EXIT } from './exit.ts'
import { jsonLine } from './format.ts'

export type Options = Readonly<Record<string, unknown>>
type Style = Parameters<typeof styleText>[0]

/** What a command gets: its options, where to write, and the way to the daemon. */
export interface Cli {
  env: NodeJS.ProcessEnv
  home: string
  socket: string
  options: Options
  json: boolean
  /** A person uses it at a terminal. */
  interactive: boolean
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  paint(style: Style, text: string): string
  /** A line on stdout. */
  print(text: string): void
  printJson(value: unknown): void
  /** A remark, on stderr: never part of the result. */
  note(text: string): void
  /** Connects to the daemon for as long as `work` takes. */
  withDaemon<T>(work: (client: NativeClient) => Promise<T>, options?: DaemonOptions): Promise<T>
}

export interface DaemonOptions extends ClientOptions {
  /** Start one if none is running, and say so. */
  start?: boolean
}

export type Command = (cli: Cli, args: readonly unknown[]) => Promise<number | void>

export function createCli(options: Options): Cli {
  const { env, stdin, stdout, stderr } = process
  const flags = { home: text(options['home']), socket: text(options['socket']) }
  const home = homeOf({ env, flags })
  const socket = socketOf({ env, flags })
  const color = stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const json = options['json'] === true
  const cli: Cli = {
    env,
    home,
    socket,
    options,
    json,
    interactive: stdin.isTTY && stdout.isTTY && !json,
    stdin,
    stdout,
    paint: (style, value) => (color ? styleText(style, value, { validateStream: false }) : value),
    print: (line) => void stdout.write(`${line}\n`),
    printJson: (value) => void stdout.write(`${jsonLine(value)}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    async withDaemon(work, { start = false, ...clientOptions } = {}) {
      if (start) await (await import('./starting.ts')).ensureDaemon(cli)
      const { connect, DaemonUnreachable } = await import('../client/client.ts')
      let client: NativeClient
      try {
        client = await connect(socket, clientOptions)
      } catch (error) {
        if (error instanceof DaemonUnreachable) throw noDaemon(home)
        throw error
      }
      try {
        return await work(client)
      } finally {
        client.close()
      }
    },
  }
  return cli
}

function noDaemon(home: string): CliError {
  return new CliError(
    `no daemon is running for ${home}; start one with: corral start --detach`,
    EXIT.noDaemon,
  )
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The named options that were given, as an object: nothing is passed on as undefined. */
export function given<K extends string>(options: Options, ...names: K[]): { [N in K]?: string } {
  const entries = names.map((name) => [name, text(options[name])] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as { [N in K]?: string }
}
