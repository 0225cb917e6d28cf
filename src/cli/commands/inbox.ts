import { homedir } from 'node:os'
import type { NativeClient } from '../../client/client.ts'
import type { Cli, Command } from '../cli.ts'
import { prefixed } from '../format.ts'
import {
  ageOf,
  bodyOf,
  filesOf,
  headOf,
  placeOf,
  readInbox,
  shortName,
  titleOf,
  type InboxItem,
} from '../inbox-items.ts'

/** What needs a human, over all sessions: live in a terminal, a list elsewhere. */
export const inbox: Command = (cli) =>
  cli.withDaemon(
    async (client) => {
      if (cli.interactive) return (await import('../inbox-screen.ts')).inboxScreen(cli, client)
      const items = await readInbox(client, Date.now())
      if (cli.json) return items.forEach((item) => cli.printJson(asJson(item)))
      if (items.length === 0) return cli.note('nothing needs you')
      for (const item of items) await print(cli, client, item)
    },
    { reconnect: cli.interactive },
  )

/** `corral` without a command: the inbox, a first page, or in a script the daemon itself. */
export const home: Command = async (cli, args) => {
  const { statusOf } = await import('../detach.ts')
  if (await statusOf(cli.socket)) return inbox(cli, args)
  if (cli.interactive) return (await import('./first-page.ts')).firstPage(cli)
  return (await import('./start.ts')).start(cli, args)
}

function asJson(item: InboxItem): unknown {
  const { kind, at, session } = item
  const about = {
    kind,
    sessionId: session.id,
    name: session.name,
    cwd: session.cwd,
    agent: session.agent,
    at,
  }
  return kind === 'approval' ? { ...about, approval: item.approval } : { ...about, error: session.lastError }
}

async function print(cli: Cli, client: NativeClient, item: InboxItem): Promise<void> {
  const id = shortName(item)
  const place = cli.paint('dim', `${placeOf(item, homedir())}, ${ageOf(item, Date.now())}`)
  cli.print(`${cli.paint('bold', titleOf(item))}  ${place}`)
  cli.print(`  ${headOf(item)}`)
  cli.print(prefixed(bodyOf(item, await filesOf(client, item)), '    '))
  if (item.kind === 'failed') cli.print(`  look at it: corral attach ${id}; or: corral done ${id}`)
  else if (item.approval.kind === 'question')
    cli.print(`  answer with: corral approve ${id} --answer TEXT, or: corral deny ${id}`)
  else cli.print(`  answer with: corral approve ${id}, or: corral deny ${id}`)
}
