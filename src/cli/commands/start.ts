import { homedir } from 'node:os'
import { loadConfig, type Config } from '../../config/config.ts'
import type { Daemon } from '../../daemon.ts'
import type { Cli, Command } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { version } from '../version.ts'

const EXIT_MS = 2000

export const start: Command = async (cli) => {
  const config = await loadConfig({ env: cli.env, flags: flagsOf(cli) })
  if (cli.options['detach']) {
    const [{ startDetached }, { inTurn }] = await Promise.all([
      import('../detach.ts'),
      import('../starting.ts'),
    ])
    return inTurn(cli, () => startDetached(cli))
  }
  const { runDaemon } = await import('../../daemon.ts')
  const starting = runDaemon({ config, version, env: cli.env, homedir: homedir(), print: cli.note })
  stopOnSignals(cli, starting)
  const daemon = await starting
  announce(cli, config, daemon)
  await daemon.stopped
  setTimeout(() => process.exit(), EXIT_MS).unref() // for whatever still keeps the process alive
  return EXIT.ok
}

function flagsOf(cli: Cli): Record<string, unknown> {
  return {
    home: cli.home,
    socket: cli.socket,
    'http.port': cli.options['port'],
    'codecast.port': cli.options['codecastPort'],
  }
}

/** The first signal stops in order, the second at once; the next daemon takes over agents that are left. */
function stopOnSignals(cli: Cli, starting: Promise<Daemon>): void {
  let asked = false
  const stop = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(EXIT.error)
    asked = true
    if (!cli.json) cli.note(`${signal}: stopping; send it again to end at once`)
    const how = {
      agents: signal === 'SIGHUP' || cli.options['keepAgents'] ? 'keep' : 'end',
      now: true,
    } as const
    // `start` reports a daemon that cannot start.
    starting.then((daemon) => daemon.stop(how)).catch(() => undefined)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
}

function announce(cli: Cli, config: Config, daemon: Daemon): void {
  const { listeners } = daemon
  if (cli.json) return cli.printJson({ pid: process.pid, version, home: config.home, listeners })
  cli.print(`${cli.paint('bold', `corral ${version}`)} is ready (pid ${process.pid}, data in ${config.home})`)
  for (const [name, address] of Object.entries(listeners)) cli.print(`  ${name.padEnd(10)} ${address}`)
  const web = daemon.listeners['corral']
  if (web) cli.print(`  dashboard: ${web} (corral open signs you in)`)
  void daemon.agents().then(
    (agents) => {
      const found = agents
        .filter((agent) => agent.installed)
        .map(({ name, version, signedIn }) =>
          [name, version, signedIn === false && '(not signed in)'].filter(Boolean).join(' '),
        )
      cli.print(`  agents: ${found.join(', ') || 'none found'}`)
    },
    (error: unknown) => cli.note(`could not look for agents: ${String(error)}`),
  )
}
