import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { NativeClient } from '../../dialects/native/client.ts'
import type { Cli, Command } from '../cli.ts'
import { startDetached } from '../detach.ts'
import { CliError, EXIT } from '../exit.ts'
import { bytes, duration, table } from '../format.ts'

const GONE_MS = 120_000
const POLL_MS = 25

export const stop: Command = async (cli) => {
  const agents = cli.options['keepAgents'] ? 'keep' : 'end'
  const pid = await stopDaemon(cli, agents, cli.options['now'] === true)
  if (cli.json) cli.printJson({ stopped: pid })
  else cli.print(`stopped (pid ${pid})${agents === 'keep' ? '; its agents keep running' : ''}`)
}

export const restart: Command = async (cli) => {
  try {
    const pid = await stopDaemon(cli, 'keep', false)
    if (!cli.json) cli.note(`stopped (pid ${pid}); its agents keep running`)
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.noDaemon) throw error
    if (!cli.json) cli.note('no daemon was running')
  }
  return startDetached(cli)
}

/** Resolves when the process is gone. */
async function stopDaemon(cli: Cli, agents: 'end' | 'keep', now: boolean): Promise<number> {
  const { pid } = await cli.withDaemon(async (client) => {
    if (agents === 'end' && !now && !cli.json) await sayWaiting(cli, client)
    return client.call('daemon.stop', { agents, now })
  })
  for (const deadline = Date.now() + GONE_MS; alive(pid); await delay(POLL_MS)) {
    if (Date.now() > deadline)
      throw new CliError(
        `the daemon (pid ${pid}) has not stopped after ${GONE_MS / 1000} s; its log may say why`,
      )
  }
  return pid
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

/** A zombie counts as ended: in a container it may stay for a while. */
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
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
