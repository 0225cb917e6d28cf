import type { NativeClient } from '../../client/client.ts'
import type { Cli, Command } from '../cli.ts'
import { startDetached } from '../detach.ts'
import { CliError, EXIT } from '../exit.ts'
import { bytes, duration, table } from '../format.ts'
import { hasEnded } from '../process-end.ts'
import { inTurn } from '../starting.ts'

const GONE_MS = 120_000

export const stop: Command = async (cli) => {
  const agents = cli.options['keepAgents'] ? 'keep' : 'end'
  const pid = await stopDaemon(cli, agents, cli.options['now'] === true)
  if (cli.json) cli.printJson({ stopped: pid })
  else cli.print(`stopped (pid ${pid})${agents === 'keep' ? '; its agents keep running' : ''}`)
}

export const restart: Command = async (cli) => {
  if (await restartedAsService(cli)) return EXIT.ok
  // Nobody else starts one in between.
  return inTurn(cli, async () => {
    try {
      const pid = await stopDaemon(cli, 'keep', false)
      if (!cli.json) cli.note(`stopped (pid ${pid}); its agents keep running`)
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.noDaemon) throw error
      if (!cli.json) cli.note('no daemon was running')
    }
    return startDetached(cli)
  })
}

/** A daemon that the system runs is restarted by the system: one that we start would not be its. */
async function restartedAsService(cli: Cli): Promise<boolean> {
  const { hasService, ownService } = await import('../own-service.ts')
  if (!hasService(cli)) return false
  const { lookAtService, restartService } = await import('../../system/service/manage.ts')
  const service = ownService(cli)
  const before = (await lookAtService(service, cli.env)).state
  if (!before?.isRunning) return false
  await restartService(service, cli.env)
  const { awaitDaemon } = await import('../detach.ts')
  const status = await awaitDaemon(cli, before.pid)
  if (cli.json) cli.printJson(status)
  else cli.print(`${service.name} was restarted: corral ${status.version} (pid ${status.pid})`)
  return true
}

/** Resolves when the process is gone. */
export async function stopDaemon(cli: Cli, agents: 'end' | 'keep', now: boolean): Promise<number> {
  const { pid } = await cli.withDaemon(async (client) => {
    if (agents === 'end' && !now && !cli.json) await sayWaiting(cli, client)
    return client.call('daemon.stop', { agents, now })
  })
  if (await hasEnded(pid, GONE_MS)) return pid
  throw new CliError(`the daemon (pid ${pid}) has not stopped after ${GONE_MS / 1000} s; its log may say why`)
}

async function sayWaiting(cli: Cli, client: NativeClient): Promise<void> {
  const { running } = (await client.call('daemon.status')).agents
  if (running === 0) return
  const { loadConfig } = await import('../../config/config.ts')
  const config = await loadConfig({ env: cli.env, flags: { home: cli.home } }).catch(() => null)
  if (config?.stop.graceMs === 0) return
  const limit = config ? ` up to ${config.stop.graceMs / 1000} s` : ''
  const turns =
    running === 1
      ? '1 running turn (--now interrupts it)'
      : `${running} running turns (--now interrupts them)`
  cli.note(`waiting${limit} for ${turns}`)
}

export const status: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const now = await client.call('daemon.status')
    if (cli.json) return cli.printJson(now)
    const sessions = Object.entries(now.sessions).map(([name, count]) => `${count} ${name}`)
    const rows = [
      ['daemon', `${now.version}, pid ${now.pid}, up ${duration(now.uptimeMs)}`],
      ['home', cli.home],
      ...now.listeners.map(({ name, address }) => [name, address]),
      ['sessions', sessions.join(', ')],
      [
        'agents',
        `${now.agents.running} working, ${now.agents.idle} idle (at most ${now.agents.maxWarm} are kept)`,
      ],
      ['log', `${now.log.head} events, id ${now.log.id}`],
      ['memory', bytes(now.memory.rss)],
    ]
    cli.print(table(rows.map(([name, value]) => [cli.paint('dim', name!), value!])))
  })
