import { resolve } from 'node:path'
import { uuid } from '../../core/ids.ts'
import type { Api, NativeClient } from '../../dialects/native/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { oneLine, sessionName, shortId } from '../format.ts'
import { live } from '../live.ts'
import { setup, wholeNumber } from '../options.ts'
import { readPast } from '../past.ts'
import { queuedText, renderItems } from '../render.ts'
import { resolveSession } from '../resolve.ts'

const RECONNECT = { reconnect: true }

export const create: Command = (cli, [words]) =>
  cli.withDaemon(async (client) => {
    const wanted = setup(cli.options)
    if (cli.options['carry'] === true && cli.options['worktree'] !== true)
      throw new CliError('--carry needs --worktree', EXIT.usage)
    const message = await messageFrom(cli, words)
    const agent = text(cli.options['agent']) ?? (await defaultAgent(cli, client))
    const session = await client.call('session.create', {
      agent,
      cwd: resolve(text(cli.options['cwd']) ?? '.'),
      worktree: cli.options['worktree'] === true,
      carry: cli.options['carry'] === true,
      ...wanted,
      key: uuid(),
      origin: 'cli',
    })
    if (cli.json) cli.printJson(session)
    else if (message === null || cli.options['wait'] === false) cli.print(session.id)
    else cli.note(`session ${shortId(session.id)}`)
    if (message === null) return EXIT.ok
    const sent = await submit(cli, client, session.id, message)
    return cli.options['wait'] === false ? EXIT.ok : answerTo(cli, client, session.id, sent)
  }, RECONNECT)

export const send: Command = (cli, [fragment, words]) =>
  cli.withDaemon(async (client) => {
    const message = await messageFrom(cli, words)
    if (message === null)
      throw new CliError('no message given; add one, or use - to read it from stdin', EXIT.usage)
    const sessionId = await resolveSession(client, String(fragment))
    const sent = await submit(cli, client, sessionId, message)
    const paused = sent.position > 0 && (await client.call('session.get', { sessionId })).status === 'paused'
    if (cli.options['wait'] !== false) return answerTo(cli, client, sessionId, sent, paused)
    if (!cli.json) cli.print(sent.position > 0 ? queuedText(sent.position, paused) : 'sent')
    return EXIT.ok
  }, RECONNECT)

export const steer: Command = (cli, [fragment, words]) =>
  cli.withDaemon(async (client) => {
    const content = await messageFrom(cli, words)
    if (content === null)
      throw new CliError('no message given; add one, or use - to read it from stdin', EXIT.usage)
    const sessionId = await resolveSession(client, String(fragment))
    const key = text(cli.options['key']) ?? uuid()
    const steered = await client.call('session.steer', { sessionId, content, key, origin: 'cli' })
    if (cli.json) cli.printJson({ sessionId, ...steered })
    else cli.print(`sent into turn ${shortId(steered.turnId)}`)
    return EXIT.ok
  }, RECONNECT)

export const compact: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(client, String(fragment))
    const sent = await client.call('session.compact', { sessionId, key: uuid(), origin: 'cli' })
    if (cli.json) cli.printJson({ sessionId, ...sent })
    if (cli.options['wait'] !== false) return answerTo(cli, client, sessionId, sent)
    if (!cli.json) cli.print(sent.position > 0 ? queuedText(sent.position, false) : 'sent')
    return EXIT.ok
  }, RECONNECT)

export const attach: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const limit = wholeNumber(cli.options, 'history', 20)
    const sessionId = await resolveSession(client, String(fragment))
    const session = await client.call('session.get', { sessionId })
    const started = session.turn?.startedSeq
    const past = await readPast(client, sessionId, limit, started)
    if (!cli.json) {
      cli.stdout.write(renderItems(past.items, cli.paint))
      const name = oneLine(sessionName(session), 80)
      cli.note(
        cli.paint(
          'dim',
          `-- ${shortId(sessionId)} ${name}: ${session.status}; Ctrl-C leaves, /help says what you can type`,
        ),
      )
    }
    const { turns } = await client.call('turn.list', { sessionId, limit: session.queued + 5 })
    const after = started === undefined ? past.head : started - 1
    const paused = session.status === 'paused'
    const from = { after, log: past.log, waiting: turns, paused }
    const ending = await live(cli, { client, sessionId, ...from, writes: true })
    if (ending === 'left' && !cli.json) sayGoodbye(cli, sessionId)
  }, RECONNECT)

type Sent = Api['session.send']['result']

async function submit(cli: Cli, client: NativeClient, sessionId: string, content: string): Promise<Sent> {
  const key = text(cli.options['key']) ?? uuid()
  const sent = await client.call('session.send', { sessionId, content, key, origin: 'cli' })
  if (cli.json) cli.printJson({ sessionId, ...sent })
  return sent
}

async function answerTo(
  cli: Cli,
  client: NativeClient,
  sessionId: string,
  sent: Sent,
  paused = false,
): Promise<number> {
  const { turnId, log, seq } = sent
  const ending = await live(cli, { client, sessionId, after: seq - 1, log, turnId, paused, writes: false })
  if (ending !== 'left') return ending === 'completed' ? EXIT.ok : EXIT.error
  if (!cli.json) sayGoodbye(cli, sessionId)
  return EXIT.left
}

function sayGoodbye(cli: Cli, sessionId: string): void {
  const id = shortId(sessionId)
  cli.note(
    `you left, and the session goes on; return with: corral attach ${id}; stop its turn with: corral interrupt ${id}`,
  )
}

async function defaultAgent(cli: Cli, client: NativeClient): Promise<string> {
  const { agents } = await client.call('agents.list')
  const claude = agents.find((agent) => agent.name === 'claude')
  const name = claude?.installed ? 'claude' : 'demo'
  if (!cli.json) cli.note(name === 'claude' ? 'agent: claude' : 'agent: demo (claude is not installed here)')
  return name
}

/** The words as one text, or all of stdin for `-`; null when there are none. */
async function messageFrom(cli: Cli, words: unknown): Promise<string | null> {
  const list = Array.isArray(words) ? (words as string[]) : []
  if (list.length === 0) return null
  if (list.length > 1 || list[0] !== '-') return list.join(' ')
  const chunks: Buffer[] = []
  for await (const chunk of cli.stdin) chunks.push(chunk as Buffer)
  const all = Buffer.concat(chunks).toString().trimEnd()
  if (all === '') throw new CliError('stdin was empty; there is no message to send', EXIT.usage)
  return all
}
