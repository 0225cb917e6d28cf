import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { heldWords } from '../../core/adoption.ts'
import type { Api, NativeClient } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { fitting } from '../find-session.ts'
import { ago, clean, oneLine, shortId, table } from '../format.ts'
import { noteSession } from '../last-session.ts'
import { setup, wholeNumber } from '../options.ts'
import { cells, fit } from '../width.ts'

type Answer = Api['agents.conversations']['result']
type Conversation = Answer['conversations'][number]

const STARTING = { start: true }
/** Among so many an id is looked for. */
const MOST = 1000

/** Without an id it lists what there is. */
export const adopt: Command = (cli, [id]) =>
  cli.withDaemon((client) => (id === undefined ? list(cli, client) : goOn(cli, client, String(id))), STARTING)

async function list(cli: Cli, client: NativeClient): Promise<void> {
  const limit = wholeNumber(cli.options, 'limit', 20)
  const all = cli.options['all'] === true
  const answer = await client.call('agents.conversations', {
    ...which(cli),
    all,
    limit: Math.min(Math.max(limit, 1), MOST),
  })
  const { conversations, truncated } = answer
  if (cli.json) return conversations.forEach(cli.printJson)
  for (const { agent, path, problem } of answer.places) {
    if (problem !== null)
      cli.note(`the conversations of ${agent} in ${clean(path)} cannot be read: ${clean(problem)}`)
  }
  if (conversations.length === 0) return nothing(cli, answer)
  cli.print(conversationTable(cli, conversations))
  if (truncated && limit < MOST) cli.note(`there are more; --limit ${Math.min(limit * 2, MOST)} shows them`)
  else if (truncated) cli.note('there are more, of other directories or agents; --cwd and --agent choose')
  if (answer.known > 0) cli.note(inCorral(answer.known))
}

function which({ options }: Cli): { agent?: string; cwd?: string } {
  const [agent, cwd] = [text(options['agent']), text(options['cwd'])]
  return { ...(agent !== undefined && { agent }), ...(cwd !== undefined && { cwd: resolve(cwd) }) }
}

function nothing(cli: Cli, { places, known }: Answer): void {
  const cwd = text(cli.options['cwd'])
  const where = cwd === undefined ? '' : ` of ${clean(resolve(cwd))}`
  if (places.length === 0)
    return cli.note(`${clean(text(cli.options['agent']) ?? '')} keeps no conversations that Corral can read`)
  cli.note(`no conversation${where} waits to be adopted; Corral looked in:`)
  cli.note(table(places.map(({ agent, path }) => [`  ${clean(agent)}`, clean(shortPath(path))])))
  if (known > 0) cli.note(inCorral(known))
}

function inCorral(known: number): string {
  return known === 1
    ? 'one more is in Corral already; --all shows it'
    : `${known} more are in Corral already; --all shows them`
}

const MAX_DIRECTORY = 28

/** With a head, no wider than the terminal. */
export function conversationTable({ paint, stdout }: Cli, conversations: readonly Conversation[]): string {
  const cellsOf = (one: Conversation): string[] => [
    clean(one.agent),
    shortId(one.id),
    ago(one.updatedAt),
    endOf(oneLine(shortPath(one.cwd), 1000), MAX_DIRECTORY),
  ]
  const rows = [['AGENT', 'ID', 'USED', 'DIRECTORY'], ...conversations.map(cellsOf)]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => cells(row[column]!))))
  const used = widths.reduce((sum, width) => sum + width + 2, 0)
  const room = Math.max(16, (stdout.isTTY ? stdout.columns || 80 : 80) - used)
  return rows
    .map((row, at) => {
      const before = row.map((cell, column) => cell + ' '.repeat(widths[column]! - cells(cell) + 2)).join('')
      const one = conversations[at - 1]
      if (!one) return paint('dim', `${before}CONVERSATION`)
      const state = stateOf(one)
      const said = fit(`${state && `(${state}) `}${oneLine(one.title ?? one.opening ?? '', 300)}`, room)
      return state === '' ? before + said : paint('dim', before + said)
    })
    .join('\n')
}

function stateOf({ holder, sessionId, known }: Conversation): string {
  if (sessionId !== null) return `session ${shortId(sessionId)}`
  if (known) return 'removed from Corral'
  if (!holder) return ''
  return holder.certain ? 'open elsewhere' : 'maybe open'
}

function shortPath(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** The end of a path tells more than its beginning. */
function endOf(path: string, columns: number): string {
  if (cells(path) <= columns) return path
  let end = path
  while (cells(end) > columns - 1) end = end.slice(end.codePointAt(0)! > 0xffff ? 2 : 1)
  return `…${end}`
}

async function goOn(cli: Cli, client: NativeClient, given: string): Promise<void> {
  const { mode, ...wanted } = setup(cli.options)
  const found = await pick(cli, client, given)
  if (found.sessionId !== null) throw isThere(found.sessionId)
  const force = cli.options['force'] === true
  if (found.holder && !(force && !found.holder.certain))
    throw new CliError(clean(heldWords(found.agent, found.holder, found.cwd, '--force')))
  const usual = mode ?? (await client.call('session.defaults')).mode
  const { agent, id } = found
  const adopted = await client.call('session.adopt', {
    agent,
    id,
    ...wanted,
    mode: usual,
    force,
    origin: 'cli',
  })
  const { session, turns, isCut } = adopted
  noteSession(cli, session.id)
  if (cli.json) return cli.printJson(adopted)
  const short = shortId(session.id)
  const past = turns === 1 ? '1 earlier turn' : `${turns} earlier turns`
  const more = isCut ? ` (${clean(agent)} itself knows what was before them)` : ''
  cli.note(
    `session ${short}: ${clean(agent)}, mode ${session.mode}, in ${clean(session.cwd)}; ${past}${more}`,
  )
  cli.note(`go on with: corral attach ${short}`)
  cli.print(session.id)
}

async function pick(cli: Cli, client: NativeClient, given: string): Promise<Conversation> {
  if (given.trim() === '')
    throw new CliError('the id of the conversation is empty; see corral adopt', EXIT.usage)
  const { conversations } = await client.call('agents.conversations', {
    ...which(cli),
    all: true,
    limit: MOST,
  })
  const candidates = conversations.map((one) => ({
    ...one,
    name: one.title ?? one.opening,
    activeAt: one.updatedAt,
  }))
  const found = fitting(given, candidates)
  if (found.length === 1) return found[0]!
  if (found.length === 0) {
    throw new CliError(`no conversation has ${clean(given)} in its id or in its first line; see corral adopt`)
  }
  const shown = conversationTable(cli, found.slice(0, 10))
  throw new CliError(`${clean(given)} fits ${found.length} conversations; give more of the id:\n${shown}`)
}

function isThere(sessionId: string): CliError {
  const short = shortId(sessionId)
  return new CliError(
    `this conversation is in Corral already: it is session ${short}; go on with: corral attach ${short}`,
  )
}
