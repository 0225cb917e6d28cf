import type { Api, NativeClient } from '../client/client.ts'
import type { Cli } from './cli.ts'
import { CliError, EXIT } from './exit.ts'
import { ago, clean, oneLine, prefixed, shortId, table } from './format.ts'
import { lastSession, noteSession } from './last-session.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const PAGES = 20
/** A shorter one has to be the beginning or the end of an id. */
const MIN_PART = 3
const MAX_SHOWN = 8

/** What people may mean. */
export interface Candidate {
  id: string
  name: string | null
  activeAt?: number
}

type SessionPage = Api['session.list']['result']

/** The session that is meant: by `-`, by a part of its id, or by a part of its title. */
export async function resolveSession(cli: Cli, client: NativeClient, given: string): Promise<string> {
  const sessionId = given === '-' ? last(cli) : await named(client, given)
  noteSession(cli, sessionId)
  return sessionId
}

function last(cli: Cli): string {
  const sessionId = lastSession(cli)
  if (sessionId !== null) return sessionId
  throw new CliError('no session was made or named here yet, so - means none; see corral ls', EXIT.usage)
}

async function named(client: NativeClient, given: string): Promise<string> {
  return UUID.test(given) ? given.toLowerCase() : pick(given, await allSessions(client)).id
}

/** Those that are not removed, as far as a person can oversee them. */
export async function allSessions(client: NativeClient): Promise<Candidate[]> {
  const sessions: Candidate[] = []
  let cursor: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const found: SessionPage = await client.call('session.list', {
      limit: 500,
      ...(cursor !== null && { cursor }),
    })
    sessions.push(...found.sessions)
    cursor = found.next
    if (cursor === null) break
  }
  return sessions
}

/** The one that is meant; throws what to do where it is none, or not certain. */
export function pick<T extends Candidate>(given: string, candidates: readonly T[], what = 'session'): T {
  // Most likely a variable of a script that is not set: it must not mean the only one there is.
  if (given.trim() === '') throw new CliError(`the id of the ${what} is empty; see corral ls`, EXIT.usage)
  const found = fitting(given, candidates)
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw ambiguous(given, found, what)
  const list = `see corral ${what === 'session' ? '' : `${what} `}ls`
  if (given.trim().length < MIN_PART) {
    throw new CliError(
      `no id of a ${what} begins or ends with ${clean(given)}, and a part of a title has ${MIN_PART} characters or more; ${list}`,
    )
  }
  throw new CliError(`no ${what} has ${clean(given)} in its id or in its title; ${list}`)
}

/** A whole id, or a whole title, leaves no doubt; otherwise all that it may be a part of. */
export function fitting<T extends Candidate>(given: string, candidates: readonly T[]): T[] {
  const wanted = given.trim().toLowerCase()
  const whole = candidates.filter(
    ({ id }) => id.toLowerCase() === wanted || shortId(id).toLowerCase() === wanted,
  )
  if (whole.length > 0) return whole
  const titled = candidates.filter(({ name }) => name?.toLowerCase() === wanted)
  if (titled.length === 1) return titled
  const isPart = wanted.length >= MIN_PART
  return candidates.filter(({ id, name }) => {
    const own = id.toLowerCase()
    if (own.startsWith(wanted) || own.endsWith(wanted)) return true
    return isPart && [shortId(own), name?.toLowerCase()].some((shown) => shown?.includes(wanted))
  })
}

function ambiguous(given: string, found: readonly Candidate[], what: string): CliError {
  const rows = found
    .slice(0, MAX_SHOWN)
    .map(({ id, name, activeAt }) => [
      shortId(id),
      oneLine(name ?? '(untitled)', 50),
      activeAt === undefined ? '' : ago(activeAt),
    ])
  const more = found.length > MAX_SHOWN ? `\n  … and ${found.length - MAX_SHOWN} more` : ''
  const list = `${prefixed(table(rows), '  ')}${more}`
  return new CliError(
    `${clean(given)} fits ${found.length} ${what}s; give more of the id or the title:\n${list}`,
  )
}
