import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import {
  installService,
  lookAtService,
  restartService,
  uninstallService,
} from '../../system/service/manage.ts'
import type { Service } from '../../system/service/service.ts'
import type { Cli, Command } from '../cli.ts'
import { launchAndWait, statusOf } from '../detach.ts'
import { CliError, EXIT } from '../exit.ts'
import { table } from '../format.ts'
import { ownService } from '../own-service.ts'
import { stopDaemon } from './daemon.ts'

export const install: Command = async (cli) => {
  const service = ownService(cli)
  if (cli.options['print']) return void cli.stdout.write(service.text)
  const { state } = await lookAtService(service, cli.env)
  const running = await statusOf(cli.socket)
  // One that the service runs is restarted; any other has to make room, and its agents go on.
  let stopped: number | null = null
  const makeRoom = async (): Promise<void> => {
    if (!running || state?.isRunning) return
    stopped = await stopDaemon(cli, 'keep', false)
    if (!cli.json) cli.note(`stopped the daemon that was running (pid ${stopped}); its agents keep running`)
  }
  try {
    await asked(() => installService(service, cli.env, makeRoom))
  } catch (error) {
    if (stopped !== null) await startAgain(cli)
    if (running) throw error
    throw new CliError(`${(error as Error).message}; without a service: corral start --detach`)
  }
  if (state?.isRunning) await asked(() => restartService(service, cli.env))
  if (cli.json) return cli.printJson(summary(service))
  cli.print(`${service.name} is installed and runs; it starts when you log in`)
  cli.print(`  ${service.path}`)
  if (service.manager === 'systemd' && !lingers())
    cli.note('to have it start with the machine, before you log in: loginctl enable-linger')
}

/** Nobody is left without the daemon that they had. */
async function startAgain(cli: Cli): Promise<void> {
  const { pid } = await launchAndWait(cli)
  if (!cli.json) cli.note(`the daemon runs again, without a service (pid ${pid})`)
}

export const status: Command = async (cli) => {
  const service = ownService(cli)
  const { file, state, problem } = await lookAtService(service, cli.env)
  const isRunning = file !== null && state?.isRunning === true
  const code = isRunning ? EXIT.ok : EXIT.noDaemon
  if (cli.json) {
    cli.printJson({ ...summary(service), installed: file !== null, file, ...state, problem })
    return code
  }
  if (file === null) {
    cli.print('no service is installed; install one with: corral service install')
    return code
  }
  const lasts = service.manager === 'systemd' ? [['starts', startsWhen(state?.isEnabled ?? null)]] : []
  const rows = [
    ['service', service.name],
    ['file', service.path],
    ['state', state ? `${state.words}${state.pid === null ? '' : `, pid ${state.pid}`}` : problem!],
    ...lasts,
  ]
  cli.print(table(rows.map(([name, value]) => [cli.paint('dim', name!), value!])))
  if (file === 'outdated')
    cli.note('this program would install it differently; to bring it up to date: corral service install')
  return code
}

export const uninstall: Command = async (cli) => {
  const service = ownService(cli)
  const removed = await asked(() => uninstallService(service, cli.env))
  if (cli.json) return cli.printJson({ ...summary(service), removed })
  cli.print(removed ? `${service.name} is stopped and removed` : 'no service is installed')
  if (removed) cli.note('agents that are at work keep running for the next daemon; your data stays')
}

function summary({ manager, name, path }: Service) {
  return { manager, name, path }
}

/** What the manager of the system refuses is told in its own words. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw new CliError((error as Error).message)
  })
}

/** Whether this user's services start with the machine. */
function lingers(): boolean {
  return existsSync(`/var/lib/systemd/linger/${userInfo().username}`)
}

function startsWhen(isEnabled: boolean | null): string {
  if (!isEnabled) return 'only when you start it'
  return lingers() ? 'with the machine' : 'when you log in (loginctl enable-linger: with the machine)'
}
