import { textOf } from '../../core/content.ts'
import type { Api } from '../../dialects/native/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { oneLine, shortId, table } from '../format.ts'
import { wholeNumber } from '../options.ts'
import { pickId, resolveSession } from '../resolve.ts'

type Turns = Api['queue.list']['result']['turns']

export const queue: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const [unwanted, moving] = [text(cli.options['remove']), text(cli.options['move'])]
    if (unwanted !== undefined && moving !== undefined)
      throw new CliError('one of --remove and --move at a time', EXIT.usage)
    const sessionId = await resolveSession(client, String(fragment))
    const list = async (): Promise<Turns> => (await client.call('queue.list', { sessionId })).turns
    const turns = await list()
    const pick = (id: string): string =>
      pickId(
        'message',
        id,
        turns.map((turn) => turn.id),
      )
    if (unwanted !== undefined) {
      const removed = await client.call('queue.remove', { sessionId, turnId: pick(unwanted) })
      return cli.json ? cli.printJson(removed) : cli.print(`removed ${shortId(removed.turnId)}`)
    }
    if (moving === undefined) return show(cli, turns)
    const position = wholeNumber(cli.options, 'to', 1)
    await client.call('queue.move', { sessionId, turnId: pick(moving), position })
    show(cli, await list())
  })

function show(cli: Cli, turns: Turns): void {
  if (cli.json) return turns.forEach(cli.printJson)
  if (turns.length === 0) return cli.note('nothing waits')
  cli.print(
    table(turns.map((turn, index) => [`${index + 1}`, shortId(turn.id), oneLine(textOf(turn.input), 80)])),
  )
}
