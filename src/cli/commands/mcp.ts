import { setTimeout as delay } from 'node:timers/promises'
import type { Decision } from '../../core/approval.ts'
import { uuid } from '../../core/ids.ts'
import { askHuman, tracked, type Desk } from '../../dialects/mcp/asking.ts'
import type { NativeClient } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { resolveSession } from '../find-session.ts'
import { version } from '../version.ts'

/** Long enough to withdraw questions, short enough for a client that waits for this process to end. */
const LEAVE_MS = 2000

export const mcp: Command = async (cli, [name]) => {
  if (name !== 'approvals') {
    throw new CliError(`unknown MCP server ${String(name)}; the only one is approvals`, EXIT.usage)
  }
  const [{ serveStdio, StdioServerTransport }, { createServer }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../../dialects/mcp/server.ts'),
  ])
  const session = sessionOf(cli)
  const clients = new Set<NativeClient>()
  // Waits for a daemon that is not running, however long it takes: the question is in its log, and the answer will be too.
  const asker = tracked((question, { client, signal }) =>
    cli.withDaemon(
      async (daemon) => {
        clients.add(daemon)
        const place = session
          ? { sessionId: await resolveSession(cli, daemon, session) }
          : { client, cwd: process.cwd() }
        return askHuman(deskOf(daemon), place, question, signal).finally(() => clients.delete(daemon))
      },
      { reconnect: true, giveUpMs: Infinity },
    ),
  )

  const transport = new StdioServerTransport(cli.stdin, cli.stdout)
  const server = serveStdio(() => createServer({ asker, version }), { transport })
  await leaving(cli, transport)
  await server.close()
  await Promise.race([asker.settled(), delay(LEAVE_MS, undefined, { ref: false })])
  for (const client of clients) client.close()
}

function sessionOf({ options, env }: Cli): string | undefined {
  return text(options['session']) ?? text(env['CORRAL_SESSION_ID']) ?? text(env['HUMANLAYER_SESSION_ID'])
}

/** Resolves when the client has gone, or a signal ends this process. */
function leaving(cli: Cli, transport: { onclose?: () => void }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { onclose } = transport
  Object.assign(transport, {
    onclose() {
      onclose?.()
      resolve()
    },
  })
  // The transport notices a client that no longer reads, and its questions are withdrawn.
  cli.stdout.removeAllListeners('error').on('error', () => resolve())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  return promise
}

function deskOf(daemon: NativeClient): Desk {
  return {
    newId: () => uuid(),
    async create(session) {
      const { id, status } = await daemon.call('session.create', session)
      return { id, destroyed: status === 'destroyed' }
    },
    async request(question) {
      return (await daemon.call('approval.request', question)).decision as Decision | null
    },
    async wait(approvalId) {
      return (await daemon.call('approval.wait', { approvalId })).decision as Decision | null
    },
    async withdraw(approvalId) {
      await daemon.call('approval.withdraw', { approvalId, by: 'mcp' })
    },
  }
}
