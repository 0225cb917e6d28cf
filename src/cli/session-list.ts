import type { SessionView } from '../dialects/native/wire.ts'
import type { Cli } from './cli.ts'
import { CliError, EXIT } from './exit.ts'
import { ago, clean, oneLine, sessionName, shortId, table } from './format.ts'
import { cells, fit } from './width.ts'

/** What people want to know about a session first. */
export const STATES = ['needs-you', 'failed', 'working', 'done', 'paused', 'snoozed', 'idle'] as const
type State = (typeof STATES)[number]

const STYLES = {
  'needs-you': 'magenta',
  failed: 'red',
  working: 'green',
  done: 'cyan',
  paused: 'yellow',
  snoozed: 'dim',
  idle: 'dim',
} as const

type Shown = Pick<SessionView, 'status' | 'attention' | 'lastOutcome' | 'openApprovals' | 'turn' | 'queued'>

export function stateOf({ status, attention, lastOutcome, openApprovals, turn }: Shown): State {
  if (attention === 'snoozed') return 'snoozed'
  if (attention === 'needs_you' && openApprovals > 0) return 'needs-you'
  if (status === 'paused') return 'paused'
  if (attention === 'working') return 'working'
  if (lastOutcome === 'failed' && turn === null) return 'failed'
  return attention === 'done' ? 'done' : 'idle'
}

/** The states that are asked for; null: all. */
export function wantedStates({ options }: Cli): ReadonlySet<State> | null {
  const named = ((options['state'] ?? []) as string[]).map(stateNamed)
  const short = (['needs-you', 'working', 'failed'] as const).filter(
    (state) => options[state === 'needs-you' ? 'needsYou' : state] === true,
  )
  const all = [...named, ...short]
  return all.length === 0 ? null : new Set(all)
}

function stateNamed(word: string): State {
  const found = STATES.find((state) => state === word)
  if (found) return found
  throw new CliError(`--state must be one of ${STATES.join(', ')}, not ${word}`, EXIT.usage)
}

const COLUMNS = {
  STATE: stateText,
  ID: ({ id }: SessionView) => shortId(id),
  AGENT: ({ agent }: SessionView) => clean(agent),
  MODE: ({ mode }: SessionView) => mode,
  MACHINE: ({ machine }: SessionView) => clean(machine ?? 'here'),
  ACTIVE: ({ activeAt }: SessionView) => ago(activeAt),
}
type Column = keyof typeof COLUMNS

/** Where there is no room for all of them, those at the beginning of this list go first. */
const LESS: readonly Column[] = ['MODE', 'AGENT', 'ACTIVE', 'MACHINE']
const MIN_TITLE = 20

/** The sessions as a table with a head, no wider than the terminal. */
export function sessionTable(
  { paint, stdout }: Pick<Cli, 'paint' | 'stdout'>,
  sessions: readonly SessionView[],
): string {
  const title = (session: SessionView): string => oneLine(sessionName(session), 200)
  const columns = stdout.isTTY ? stdout.columns || 80 : 80
  const isAlone = sessions.every(({ machine }) => machine === undefined)
  const all = (Object.keys(COLUMNS) as Column[]).filter((name) => name !== 'MACHINE' || !isAlone)
  const tries = [0, 1, 2, 3, 4].map((gone) => all.filter((name) => !LESS.slice(0, gone).includes(name)))
  const fits = (lines: string[]): boolean => columns - cells(lines[0]!) >= MIN_TITLE
  const tables = tries.map((names) => linesOf(names, sessions))
  const lines = tables.find(fits) ?? tables.at(-1)!
  const room = Math.max(1, columns - cells(lines[0]!))
  return lines
    .map((line, at) => {
      if (at === 0) return paint('dim', `${line}TITLE`)
      const session = sessions[at - 1]!
      const state = stateText(session)
      const rest = line.slice(state.length)
      return `${paint(STYLES[stateOf(session)], state)}${rest}${fit(title(session), room)}`
    })
    .join('\n')
}

/** The head and a line for each session, as wide as each other, without the titles. */
function linesOf(names: readonly Column[], sessions: readonly SessionView[]): string[] {
  const rows = sessions.map((session) => names.map((name) => COLUMNS[name](session)))
  const lines = table([[...names], ...rows].map((row) => [...row, '|'])).split('\n')
  return lines.map((line) => line.slice(0, -1))
}

function stateText(session: Shown): string {
  const word = stateOf(session).replace('-', ' ')
  return session.queued > 0 ? `${word} +${session.queued}` : word
}
