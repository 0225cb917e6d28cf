import { textOf } from '../../core/content.ts'
import type { Api, NativeClient } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { resolveSession } from '../find-session.ts'
import { oneLine, shortId, table } from '../format.ts'
import { wholeNumber } from '../options.ts'
import { pickOne } from '../resolve.ts'

type Turn = Api['queue.list']['result']['turns'][number]

interface Queue {
  sessionId: string
  turns: Turn[]
}

async function queueOf(cli: Cli, client: NativeClient, fragment: unknown): Promise<Queue> {
  const sessionId = await resolveSession(cli, client, String(fragment))
  return { sessionId, turns: (await client.call('queue.list', { sessionId })).turns }
}

function pick({ turns }: Queue, fragment: unknown): string {
  return pickOne('message', fragment, turns, ({ id }) => id).id
}

export const list: Command = (cli, [session]) =>
  cli.withDaemon(async (client) => print(cli, await queueOf(cli, client, session)))

export const remove: Command = (cli, [session, message]) =>
  cli.withDaemon(async (client) => {
    const queue = await queueOf(cli, client, session)
    const { sessionId } = queue
    const removed = await client.call('queue.remove', { sessionId, turnId: pick(queue, message) })
    if (cli.json) cli.printJson(removed)
    else cli.print(`removed ${shortId(removed.turnId)}`)
  })

export const move: Command = (cli, [session, message]) =>
  cli.withDaemon(async (client) => {
    const queue = await queueOf(cli, client, session)
    const { sessionId } = queue
    const position = wholeNumber(cli.options, 'to', 1)
    await client.call('queue.move', { sessionId, turnId: pick(queue, message), position })
    print(cli, await queueOf(cli, client, sessionId))
  })

/** `corral queue SESSION`, with the verb as an option. */
export const bare: Command = (cli, [session]) => {
  const [unwanted, moving] = [text(cli.options['remove']), text(cli.options['move'])]
  if (unwanted !== undefined && moving !== undefined) {
    throw new CliError('--remove and --move cannot be given together', EXIT.usage)
  }
  if (unwanted !== undefined) return remove(cli, [session, unwanted])
  return moving === undefined ? list(cli, [session]) : move(cli, [session, moving])
}

function print(cli: Cli, { turns }: Queue): void {
  if (cli.json) return turns.forEach(cli.printJson)
  if (turns.length === 0) return cli.note('no message waits in the queue')
  cli.print(
    table(turns.map((turn, index) => [`${index + 1}`, shortId(turn.id), oneLine(textOf(turn.input), 60)])),
  )
}
