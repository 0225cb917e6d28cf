import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { pathsOf } from '../config/paths.ts'
import { connect, DaemonUnreachable, type Api } from '../client/client.ts'
import { text, type Cli } from './cli.ts'
import { CliError, EXIT } from './exit.ts'
import { clean } from './format.ts'
import { ownCommand } from './own-command.ts'

const READY_MS = 20_000
const POLL_MS = 25

export type Status = Api['daemon.status']['result']

/** Starts the daemon in the background and waits until it answers. */
export async function startDetached(cli: Cli): Promise<number> {
  const running = await statusOf(cli.socket)
  if (running)
    throw new CliError(
      `a daemon is already running for ${cli.home} (pid ${running.pid}); stop it with: corral stop`,
    )
  const status = await launchAndWait(cli)
  if (cli.json) {
    cli.printJson(status)
    return EXIT.ok
  }
  cli.print(`corral ${status.version} runs in the background (pid ${status.pid}, data in ${cli.home})`)
  for (const { name, address } of status.listeners) cli.print(`  ${name.padEnd(10)} ${address}`)
  cli.print(`  log        ${pathsOf(cli.home).log}`)
  sayTroubles(cli, status)
  return EXIT.ok
}

/** Resolves when it answers. */
export function launchAndWait(cli: Cli): Promise<Status> {
  return ready(cli, launch(cli))
}

/** What a person in front of the daemon would have seen. */
export function sayTroubles(cli: Cli, { troubles }: Status): void {
  for (const { name, message } of troubles) cli.note(`warning: ${name}: ${clean(message)}`)
}

/** Null when no daemon answers. */
export async function statusOf(socket: string): Promise<Status | null> {
  try {
    const client = await connect(socket)
    try {
      return await client.call('daemon.status')
    } finally {
      client.close()
    }
  } catch (error) {
    if (error instanceof DaemonUnreachable || (error as Error).name === 'ConnectionLost') return null
    throw error
  }
}

function launch(cli: Cli): ChildProcess {
  const output = openSync(pathsOf(cli.home).output, 'w', 0o600)
  const given = (flag: string, value: unknown): string[] => {
    const port = text(value)
    return port === undefined ? [] : [flag, port]
  }
  const ports = [
    ...given('--port', cli.options['port']),
    ...given('--codecast-port', cli.options['codecastPort']),
  ]
  const keep = cli.options['keepAgents'] ? ['--keep-agents'] : []
  const args = ['start', '--home', cli.home, ...ports, ...keep]
  const [program, ...before] = ownCommand()
  const child = spawn(program, [...before, ...args], {
    detached: true,
    stdio: ['ignore', output, output],
    cwd: '/',
    // Absolute paths, since the daemon runs in another directory.
    env: { ...cli.env, CORRAL_HOME: cli.home, CORRAL_SOCKET: cli.socket },
  })
  closeSync(output)
  child.unref()
  return child
}

/** The run file appears when all listeners are open; that of an earlier daemon has another pid. */
export function runsAs(home: string): number | null {
  try {
    return (JSON.parse(readFileSync(pathsOf(home).run, 'utf8')) as { pid: number }).pid
  } catch {
    return null
  }
}

/** Waits until a daemon answers that is another one than this, wherever it was started. */
export async function awaitDaemon(cli: Cli, notPid: number | null): Promise<Status> {
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline; await delay(POLL_MS)) {
    const status = await statusOf(cli.socket)
    if (status && status.pid !== notPid) return status
  }
  throw new CliError(`no daemon answers after ${READY_MS / 1000} s; corral logs may say why`)
}

async function ready(cli: Cli, child: ChildProcess): Promise<Status> {
  let failure: string | null = null
  child.once('error', (error) => (failure = error.message))
  child.once('exit', (code, signal) => (failure = `it ended with ${signal ?? `code ${code}`}`))
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline; await delay(POLL_MS)) {
    const status = runsAs(cli.home) === child.pid ? await statusOf(cli.socket) : null
    if (status) return status
    if (failure !== null) break
  }
  const { output } = pathsOf(cli.home)
  const said = readFileSync(output, 'utf8').trim().split('\n').slice(-10).join('\n')
  throw new CliError(`the daemon did not start: ${failure ?? `no answer in ${READY_MS / 1000} s`}\n${said}`)
}
