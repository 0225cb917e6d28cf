import { readFileSync } from 'node:fs'
import { createCatalog } from '../../agents/catalog.ts'
import { driversWith } from '../../agents/drivers.ts'
import { reportAgents } from '../../agents/report.ts'
import { pathsOf } from '../../config/paths.ts'
import { connect, DaemonUnreachable, type NativeClient } from '../../client/client.ts'
import { judgeAgents } from '../../doctor/agents.ts'
import { type Check, type Group, GROUPS, overall, type Status } from '../../doctor/check.ts'
import type { Configuration } from '../../doctor/configuration.ts'
import { type SocketState, judgeSocket } from '../../doctor/daemon.ts'
import { examine } from '../../doctor/examine.ts'
import type { RunFile } from '../../system/run-file.ts'
import type { Cli, Command } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { clean, prefixed } from '../format.ts'
import { version } from '../version.ts'

/** A healthy daemon answers at once; looking for agents may take some seconds. */
const STATUS_MS = 5000
const DOCTOR_MS = 30_000

export const doctor: Command = async (cli) => {
  const { env, home, socket } = cli
  const { checks, configuration } = await examine({ env, home, socket, thorough: true })
  const { answer, told } = await askDaemon(cli)
  const all = [
    ...checks,
    ...judgeSocket(answer, socket, version),
    // The daemon's environment is the one that its agents get.
    ...(told ?? (await lookForAgents(cli, configuration))),
  ]
  const status = overall(all)
  if (cli.json) cli.printJson({ status, checks: all })
  else print(cli, all)
  return status === 'error' ? EXIT.error : EXIT.ok
}

async function askDaemon(cli: Cli): Promise<{ answer: SocketState; told: Check[] | null }> {
  let client: NativeClient
  try {
    client = await connect(cli.socket)
  } catch (error) {
    if (!(error instanceof DaemonUnreachable)) throw error
    return { answer: { kind: 'absent', pid: claimant(cli.home) }, told: null }
  }
  try {
    const status = await within(STATUS_MS, client.call('daemon.status'))
    if (!status) return { answer: { kind: 'silent' }, told: null }
    const examined = await within(DOCTOR_MS, client.call('daemon.doctor'))
    const told = examined?.checks.filter(({ group }) => group === 'daemon' || group === 'agents') ?? null
    return { answer: { kind: 'running', version: status.version, pid: status.pid }, told }
  } finally {
    client.close()
  }
}

/** Null when there is no answer in time, or the daemon is of a version that has none. */
async function within<T>(ms: number, answer: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, ms, null)))
  const result = await Promise.race([answer.catch(() => null), late])
  clearTimeout(timer)
  return result
}

/** The process that the run file names as the daemon, if it still exists. */
function claimant(home: string): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(pathsOf(home).run, 'utf8')) as RunFile
    process.kill(pid, 0)
    return pid
  } catch {
    return null
  }
}

async function lookForAgents({ env }: Cli, { config }: Configuration): Promise<Check[]> {
  const own = config?.customAgents ?? {}
  return judgeAgents(await reportAgents(createCatalog(driversWith(own), env)), Object.keys(own))
}

const TITLES: Readonly<Record<Group, string>> = {
  machine: 'This machine',
  home: 'Data directory',
  configuration: 'Configuration',
  daemon: 'Daemon',
  agents: 'Agents',
}

const LOOKS = {
  ok: ['ok', 'green'],
  warn: ['warn', 'yellow'],
  error: ['ERROR', 'red'],
  skipped: ['-', 'dim'],
} as const

function print(cli: Cli, checks: readonly Check[]): void {
  const names = Math.max(...checks.map(({ name }) => shown(name).length))
  for (const group of GROUPS) {
    cli.print(cli.paint('bold', TITLES[group]))
    for (const check of checks.filter((one) => one.group === group)) printCheck(cli, check, names)
    cli.print('')
  }
  cli.print(verdict(checks))
}

function printCheck(cli: Cli, { name, status, message, fix }: Check, names: number): void {
  const [word, style] = LOOKS[status]
  cli.print(`  ${cli.paint(style, word.padEnd(5))}  ${shown(name).padEnd(names)}  ${clean(message)}`)
  if (fix !== null) cli.print(prefixed(cli.paint('cyan', `-> ${clean(fix)}`), ' '.repeat(names + 11)))
}

function shown(name: string): string {
  return name.replace(/^(agent|listener)_/, '').replaceAll('_', ' ')
}

function verdict(checks: readonly Check[]): string {
  const count = (status: Status): number => checks.filter((check) => check.status === status).length
  const [errors, warnings] = [count('error'), count('warn')]
  if (errors + warnings === 0) return 'All is well.'
  const counted = (number: number, word: string): string[] =>
    number === 0 ? [] : [`${number} ${word}${number === 1 ? '' : 's'}`]
  return `${[...counted(errors, 'error'), ...counted(warnings, 'warning')].join(', ')}.`
}
