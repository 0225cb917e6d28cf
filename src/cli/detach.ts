import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { pathsOf } from '../config/paths.ts'
import { connect, DaemonUnreachable, type Api } from '../dialects/native/client.ts'
import { text, type Cli } from './cli.ts'
import { CliError, EXIT } from './exit.ts'

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
  const status = await ready(cli, launch(cli))
  if (cli.json) {
    cli.printJson(status)
    return EXIT.ok
  }
  cli.print(`corral ${status.version} runs in the background (pid ${status.pid}, data in ${cli.home})`)
  for (const { name, address } of status.listeners) cli.print(`  ${name.padEnd(10)} ${address}`)
  cli.print(`  log        ${pathsOf(cli.home).log}`)
  return EXIT.ok
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
  mkdirSync(cli.home, { recursive: true, mode: 0o700 })
  const output = openSync(pathsOf(cli.home).output, 'w', 0o600)
  const given = (flag: string, value: unknown): string[] => {
    const port = text(value)
    return port === undefined ? [] : [flag, port]
  }
  const ports = [
    ...given('--port', cli.options['port']),
    ...given('--codecast-port', cli.options['codecastPort']),
  ]
  const args = ['start', '--home', cli.home, ...ports]
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
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
function runsAs(home: string): number | null {
  try {
    return (JSON.parse(readFileSync(pathsOf(home).run, 'utf8')) as { pid: number }).pid
  } catch {
    return null
  }
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
