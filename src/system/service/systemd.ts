import { join } from 'node:path'
import {
  daemonCommand,
  environmentOf,
  MARK,
  suffixOf,
  type Service,
  type ServiceFacts,
  type ServiceState,
} from './service.ts'

/** A unit of the user's own systemd. */
export function systemdService(facts: ServiceFacts): Service {
  const name = `corral${suffixOf(facts)}.service`
  const { env, homedir } = facts
  const directory = join(env.XDG_CONFIG_HOME || join(homedir, '.config'), 'systemd/user')
  const systemctl = (...args: string[]) => ['systemctl', '--user', ...args] as const
  return {
    manager: 'systemd',
    name,
    path: join(directory, name),
    text: unitText(facts),
    install: [systemctl('daemon-reload'), systemctl('enable', '--now', name)],
    uninstall: [systemctl('disable', '--now', name)],
    restart: systemctl('restart', name),
    look: systemctl('show', '--property=ActiveState,SubState,MainPID,UnitFileState', name),
    readState,
  }
}

function unitText(facts: ServiceFacts): string {
  const environment = environmentOf(facts).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)
  return `# ${MARK}
[Unit]
Description=Corral, coding agents as sessions that last
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${commandLine(daemonCommand(facts))}
${environment.join('\n')}
WorkingDirectory=/
# Agents are no part of the daemon's life: they work on while it is restarted or upgraded.
KillMode=process
OOMPolicy=continue
Restart=on-failure
RestartSec=2
TimeoutStopSec=30

[Install]
WantedBy=default.target
`
}

/** In quotes; a percent sign would be a specifier. */
function quoted(text: string): string {
  if (/[\n\r\0]/.test(text)) throw new Error(`a unit of systemd cannot name ${JSON.stringify(text)}`)
  return `"${text.replaceAll(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`
}

/** In an argument, a dollar sign would be a variable. */
function commandLine([program = '', ...args]: string[]): string {
  if (/["'\\]/.test(program)) throw new Error(`systemd cannot run ${program}: it refuses such a name`)
  return [quoted(program), ...args.map((word) => quoted(word).replaceAll('$', '$$$$'))].join(' ')
}

function readState(printed: string): ServiceState {
  const values = Object.fromEntries(
    printed.split('\n').map((line): [string, string] => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1).trim()]
    }),
  )
  const { ActiveState = 'unknown', SubState = 'unknown', MainPID = '0', UnitFileState = '' } = values
  return {
    isRunning: ActiveState === 'active',
    isEnabled: UnitFileState === 'enabled',
    pid: Number(MainPID) || null,
    words: `${ActiveState} (${SubState})`,
  }
}
