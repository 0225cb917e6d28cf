import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { launchdService } from '../system/service/launchd.ts'
import { MANAGERS, type Manager, type Service } from '../system/service/service.ts'
import { systemdService } from '../system/service/systemd.ts'
import { text, type Cli } from './cli.ts'
import { CliError, EXIT } from './exit.ts'
import { ownCommand } from './own-command.ts'

const MAKERS = { systemd: systemdService, launchd: launchdService } as const

/** The service of this data directory, installed or not. */
export function ownService(cli: Cli): Service {
  const { env, home, socket } = cli
  const isOwnSocket = socket === join(home, 'corral.sock')
  return MAKERS[managerOf(cli)]({
    command: ownCommand(),
    home,
    isUsualHome: real(home) === real(join(homedir(), '.corral')),
    env: { ...env, CORRAL_SOCKET: isOwnSocket ? undefined : socket },
    homedir: homedir(),
    uid: process.getuid?.() ?? 0,
  })
}

/** Whether this data directory has a service; asks nobody. */
export function hasService(cli: Cli): boolean {
  return process.platform !== 'win32' && existsSync(ownService(cli).path)
}

function managerOf({ options }: Cli): Manager {
  const given = text(options['manager'])
  const found = MANAGERS.find((one) => one === given)
  if (given !== undefined && !found)
    throw new CliError(`--manager must be one of ${MANAGERS.join(', ')}, not ${given}`, EXIT.usage)
  return found ?? (process.platform === 'darwin' ? 'launchd' : 'systemd')
}

function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
