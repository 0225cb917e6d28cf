import { resolve } from 'node:path'
import { uuid } from '../../core/ids.ts'
import type { Api, NativeClient } from '../../dialects/native/client.ts'
import { given, text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { shortId } from '../format.ts'
import { live, type Ending } from '../live.ts'
import { wholeNumber } from '../options.ts'
import { renderItems } from '../render.ts'
import { resolveSession } from '../resolve.ts'

const RECONNECT = { reconnect: true }

export const create: Command = (cli, [words]) =>
  cli.withDaemon(async (client) => {
    const message = await messageFrom(cli, words)
    const agent = text(cli.options['agent']) ?? (await defaultAgent(cli, client))
    const session = await client.call('session.create', {
      agent,
      cwd: resolve(text(cli.options['cwd']) ?? '.'),
      ...(given(cli.options, 'mode', 'model', 'title') as { mode?: 'auto' }),
      key: uuid(),
      origin: 'cli',
    })
    if (cli.json) cli.printJson(session)
    else if (message === null) cli.print(session.id)
    else cli.note(`session ${shortId(session.id)}`)
    if (message !== null) return deliver(cli, client, session.id, message)
  }, RECONNECT)

export const send: Command = (cli, [fragment, words]) =>
  cli.withDaemon(async (client) => {
    const message = await messageFrom(cli, words)
    if (message === null) throw new CliError('no message given; use - to read it from stdin', EXIT.usage)
    const sessionId = await resolveSession(client, String(fragment))
    return deliver(cli, client, sessionId, message)
  }, RECONNECT)

export const attach: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const limit = wholeNumber(cli.options, 'history', 20)
    const sessionId = await resolveSession(client, String(fragment))
    const session = await client.call('session.get', { sessionId })
    const started = session.turn?.startedSeq
    const past = await client.call('history.read', {
      sessionId,
      limit: Math.max(limit, 1),
      ...(started !== undefined && { before: started }),
    })
    if (!cli.json) {
      if (limit > 0) cli.stdout.write(renderItems(past.items, cli.paint))
      const name = session.title ?? session.cwd
      cli.note(
        cli.paint(
          'dim',
          `-- ${shortId(sessionId)} ${name}: ${session.status}; Ctrl-C detaches, /help for more`,
        ),
      )
    }
    const { turns } = await client.call('turn.list', { sessionId, limit: session.queued + 5 })
    const after = started === undefined ? past.head : started - 1
    const ending = await live(cli, { client, sessionId, after, log: past.log, waiting: turns, writes: true })
    if (ending === 'left' && !cli.json) sayGoodbye(cli, sessionId)
  }, RECONNECT)

async function deliver(cli: Cli, client: NativeClient, sessionId: string, content: string): Promise<number> {
  const key = text(cli.options['key']) ?? uuid()
  const sent = await client.call('session.send', { sessionId, content, key, origin: 'cli' })
  if (cli.json) cli.printJson({ sessionId, ...sent })
  if (cli.options['wait'] === false) {
    if (!cli.json) cli.print(sent.position > 0 ? `queued, ${sent.position} before it` : 'sent')
    return EXIT.ok
  }
  return exitOf(cli, sessionId, await answerTo(cli, client, sessionId, sent))
}

type Sent = Api['session.send']['result']

function answerTo(cli: Cli, client: NativeClient, sessionId: string, sent: Sent): Promise<Ending> {
  const { turnId, log } = sent
  return live(cli, { client, sessionId, after: sent.seq - 1, log, turnId, writes: false })
}

function exitOf(cli: Cli, sessionId: string, ending: Ending): number {
  if (ending === 'left' && !cli.json) sayGoodbye(cli, sessionId)
  return ending === 'completed' || ending === 'left' ? EXIT.ok : EXIT.error
}

function sayGoodbye(cli: Cli, sessionId: string): void {
  const id = shortId(sessionId)
  cli.note(
    `detached; the session goes on. Back: corral attach ${id}. To stop its turn: corral interrupt ${id}`,
  )
}

async function defaultAgent(cli: Cli, client: NativeClient): Promise<string> {
  const { agents } = await client.call('agents.list')
  const claude = agents.find((agent) => agent.name === 'claude')
  const name = claude?.installed ? 'claude' : 'demo'
  cli.note(name === 'claude' ? 'agent: claude' : 'agent: demo (claude is not installed here)')
  return name
}

/** The words as one text; `-` stands for all of stdin; null when there is nothing. */
async function messageFrom(cli: Cli, words: unknown): Promise<string | null> {
  const list = Array.isArray(words) ? (words as string[]) : []
  if (list.length === 0) return null
  if (list.length > 1 || list[0] !== '-') return list.join(' ')
  const chunks: Buffer[] = []
  for await (const chunk of cli.stdin) chunks.push(chunk as Buffer)
  const all = Buffer.concat(chunks).toString().trimEnd()
  if (all === '') throw new CliError('stdin was empty', EXIT.usage)
  return all
}
