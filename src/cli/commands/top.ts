import type { Api, NativeClient } from '../../client/client.ts'
import type { Cli, Command } from '../cli.ts'
import { bytes, clean, duration, oneLine, sessionName, shortId, table } from '../format.ts'

type Session = Api['system.resources']['result']['sessions'][number]

export const top: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const now = await client.call('system.resources')
    if (cli.json) return cli.printJson(now)
    const largestFirst = now.sessions.toSorted((a, b) => b.bytes - a.bytes)
    const rows = [
      ['SESSION', 'AGENT', 'TIER', 'PID', 'MEMORY', 'ACTIVE', ''].map((title) => cli.paint('dim', title)),
      ['', 'daemon', '', '', bytes(now.daemonBytes)],
      ...(await Promise.all(largestFirst.map((session) => row(cli, client, session)))),
    ]
    cli.print(table(rows))
    const { daemonBytes, agentsBytes, usedBytes, totalBytes, active, warm, cold } = now
    cli.print(
      `${bytes(daemonBytes + agentsBytes)} in all; the machine uses ${bytes(usedBytes)} of ${bytes(totalBytes)}; ` +
        `sessions: ${active} active, ${warm} warm, ${cold} cold`,
    )
  })

async function row(cli: Cli, client: NativeClient, session: Session): Promise<string[]> {
  const { sessionId, agent, tier, pid, activeAt } = session
  // It may have been removed meanwhile.
  const found = await client.call('session.get', { sessionId }).catch(() => null)
  return [
    cli.paint('bold', shortId(sessionId)),
    clean(agent),
    tier,
    pid === null ? '' : String(pid),
    bytes(session.bytes),
    `${duration(Date.now() - activeAt)} ago`,
    found ? oneLine(sessionName(found), 50) : '',
  ]
}
