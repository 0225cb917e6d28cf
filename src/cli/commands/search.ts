import type { Api } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { clean, duration, shortId, table } from '../format.ts'
import { wholeNumber } from '../options.ts'
import { resolveSession } from '../find-session.ts'

const PAGE = 100

type Hit = Api['messages.search']['result']['hits'][number]

export const search: Command = (cli, [words]) =>
  cli.withDaemon(async (client) => {
    const wanted = wholeNumber(cli.options, 'limit', 20)
    const session = text(cli.options['session'])
    const query = {
      text: (words as string[]).join(' '),
      ...(session !== undefined && { sessionId: await resolveSession(cli, client, session) }),
    }
    const hits: Hit[] = []
    let cursor: string | null = null
    while (hits.length < wanted) {
      const limit = Math.min(PAGE, wanted - hits.length)
      const page: Api['messages.search']['result'] = await client.call('messages.search', {
        ...query,
        limit,
        ...(cursor !== null && { cursor }),
      })
      hits.push(...page.hits)
      cursor = page.next
      if (cursor === null) break
    }
    if (cli.json) return hits.forEach(cli.printJson)
    if (hits.length === 0) return cli.note('nothing found')
    cli.print(
      table(
        hits.map((hit) => [
          cli.paint('bold', shortId(hit.sessionId)),
          `${duration(Date.now() - hit.at)} ago`,
          hit.role === 'user' ? 'you' : 'agent',
          marked(cli, hit),
        ]),
      ),
    )
  })

function marked(cli: Cli, { text: found, marks }: Hit): string {
  const flat = (part: string): string => clean(part).replace(/\s+/g, ' ')
  let out = ''
  let at = 0
  for (const [from, to] of marks) {
    out += flat(found.slice(at, from)) + cli.paint('yellow', flat(found.slice(from, to)))
    at = to
  }
  return out + flat(found.slice(at))
}
