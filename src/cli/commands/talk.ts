import { resolve } from 'node:path'
import { uuid } from '../../core/ids.ts'
import type { Mode } from '../../core/mode.ts'
import type { Api, NativeClient } from '../../client/client.ts'
import { given, text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, oneLine, sessionName, shortId } from '../format.ts'
import { noteSession } from '../last-session.ts'
import { hasScreen, live } from '../live.ts'
import { setup, wholeNumber } from '../options.ts'
import { readPast, stillAsked } from '../past.ts'
import { queuedText, renderItems } from '../render.ts'
import { resolveSession } from '../find-session.ts'

const RECONNECT = { reconnect: true }
/** The first words name a branch. */
const MAX_ABOUT = 500
/** What people type first. */
const STARTING = { ...RECONNECT, start: true }

export const create: Command = async (cli, [words]) => {
  const wanted = setup(cli.options)
  for (const name of ['carry', 'branch'])
    if (cli.options[name] !== undefined && cli.options['worktree'] !== true)
      throw new CliError(`--${name} needs --worktree`, EXIT.usage)
  const place = placeFrom(cli)
  const message = await messageFrom(cli, words)
  return cli.withDaemon(async (client) => {
    const { agent, mode, remark } = await withDefaults(cli, client, wanted.mode)
    const session = await client.call('session.create', {
      agent,
      ...place,
      worktree: cli.options['worktree'] === true,
      carry: cli.options['carry'] === true,
      ...given(cli.options, 'branch'),
      ...(message !== null && { about: message.slice(0, MAX_ABOUT) }),
      ...wanted,
      mode,
      key: uuid(),
      origin: 'cli',
    })
    noteSession(cli, session.id)
    if (cli.json) cli.printJson(session)
    else {
      cli.note(`session ${shortId(session.id)}: ${clean(agent)}, mode ${mode} (${MODE_MEANS[mode]})${remark}`)
      if (message === null || cli.options['wait'] === false) cli.print(session.id)
    }
    if (message === null) return EXIT.ok
    const sent = await submit(cli, client, session.id, message)
    return cli.options['wait'] === false ? EXIT.ok : answerTo(cli, client, session.id, sent)
  }, STARTING)
}

/** A path of this machine means nothing on another one. */
function placeFrom({ options }: Cli): { cwd: string; machine?: string } {
  const machine = text(options['on'])
  const cwd = text(options['cwd'])
  if (machine === undefined) return { cwd: resolve(cwd ?? '.') }
  if (cwd?.startsWith('/')) return { machine, cwd }
  throw new CliError(
    `--on ${clean(machine)} needs --cwd, with the whole path of a directory there`,
    EXIT.usage,
  )
}

export const send: Command = async (cli, [fragment, words]) => {
  const message = await messageFrom(cli, words)
  if (message === null)
    throw new CliError('no message given; add one, or use - to read it from stdin', EXIT.usage)
  return cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(cli, client, String(fragment))
    const sent = await submit(cli, client, sessionId, message)
    const paused = sent.position > 0 && (await client.call('session.get', { sessionId })).status === 'paused'
    if (cli.options['wait'] !== false) return answerTo(cli, client, sessionId, sent, paused)
    if (!cli.json) cli.print(sent.position > 0 ? queuedText(sent.position, paused) : 'sent')
    return EXIT.ok
  }, STARTING)
}

export const steer: Command = (cli, [fragment, words]) =>
  cli.withDaemon(async (client) => {
    const content = await messageFrom(cli, words)
    if (content === null)
      throw new CliError('no message given; add one, or use - to read it from stdin', EXIT.usage)
    const sessionId = await resolveSession(cli, client, String(fragment))
    const key = text(cli.options['key']) ?? uuid()
    const steered = await client.call('session.steer', { sessionId, content, key, origin: 'cli' })
    if (cli.json) cli.printJson({ sessionId, ...steered })
    else cli.print(`sent into turn ${shortId(steered.turnId)}`)
    return EXIT.ok
  }, RECONNECT)

export const compact: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(cli, client, String(fragment))
    const sent = await client.call('session.compact', { sessionId, key: uuid(), origin: 'cli' })
    if (cli.json) cli.printJson({ sessionId, ...sent })
    if (cli.options['wait'] !== false) return answerTo(cli, client, sessionId, sent)
    if (!cli.json) cli.print(sent.position > 0 ? queuedText(sent.position, false) : 'sent')
    return EXIT.ok
  }, RECONNECT)

export const attach: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const limit = wholeNumber(cli.options, 'history', 20)
    const sessionId = await resolveSession(cli, client, String(fragment))
    const session = await client.call('session.get', { sessionId })
    const started = session.turn?.startedSeq
    const past = await readPast(client, sessionId, limit, started)
    const name = oneLine(sessionName(session), 80)
    const greeting = `-- ${shortId(sessionId)} ${name}: ${session.status}; Ctrl-C leaves, /help says what you can type`
    if (!cli.json && !hasScreen(cli)) {
      cli.stdout.write(renderItems(past.items, cli.paint))
      cli.note(cli.paint('dim', greeting))
    }
    const { turns } = await client.call('turn.list', { sessionId, limit: session.queued + 5 })
    const after = started === undefined ? past.head : started - 1
    const asked = await stillAsked(client, sessionId, after + 1)
    const paused = session.status === 'paused'
    const from = { after, asked, log: past.log, waiting: turns, paused, past: past.items, greeting }
    const ending = await live(cli, { client, sessionId, ...from, writes: true })
    if (ending === 'left' && !cli.json) sayGoodbye(cli, sessionId)
  }, STARTING)

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

const MODE_MEANS: Readonly<Record<Mode, string>> = {
  auto: 'does everything without asking',
  code: 'edits files, asks before it runs a command',
  plan: 'reads, changes nothing',
  ask: 'asks before it changes anything',
}

/** Agent and mode as they were asked for, otherwise as the daemon begins a session. */
async function withDefaults(
  { options }: Cli,
  client: NativeClient,
  mode: Mode | undefined,
): Promise<{ agent: string; mode: Mode; remark: string }> {
  const agent = text(options['agent'])
  if (agent !== undefined && mode !== undefined) return { agent, mode, remark: '' }
  const machine = text(options['on'])
  const usual = await client.call('session.defaults', machine === undefined ? {} : { machine })
  const isLast = agent === undefined && usual.chosen === 'demo' && machine === undefined
  const remark = isLast ? '\nno real agent is installed here; `corral agent ls` says how to get one' : ''
  return { agent: agent ?? usual.agent, mode: mode ?? usual.mode, remark }
}

/** The words as one text, or all of stdin for `-`; null when there are none. */
async function messageFrom(cli: Cli, words: unknown): Promise<string | null> {
  const list = Array.isArray(words) ? (words as string[]) : []
  if (list.length === 0) return null
  if (list.length > 1 || list[0] !== '-') {
    // Most likely a variable of a script that is not set.
    if (list.join('').trim() === '') throw new CliError('the message is empty', EXIT.usage)
    return list.join(' ')
  }
  const chunks: Buffer[] = []
  for await (const chunk of cli.stdin) chunks.push(chunk as Buffer)
  const all = Buffer.concat(chunks).toString().trimEnd()
  if (all === '') throw new CliError('stdin was empty; there is no message to send', EXIT.usage)
  return all
}
