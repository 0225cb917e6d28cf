import type { Approval } from './approval.ts'
import { mustBeKnown, type EngineContext } from './context.ts'
import { CorralError } from './error.ts'
import type { DecidedApproval, DecidedQuery } from './ports.ts'
import { rulesFor, type Site } from './rule.ts'

/** A rule that a yes has made, or would make. */
export interface LearnedRule {
  scope: 'session' | 'directory'
  /** Where it holds: below this directory, in the session or in all. */
  path: string
  text: string[]
}

/** A decision, with what it was about, for whoever looks back. */
export interface PastDecision extends DecidedApproval {
  title: string | null
  agent: string
  cwd: string
  /** Null: it was for this once. */
  rule: LearnedRule | null
}

export interface DecisionQuery extends Pick<DecidedQuery, 'sessionId' | 'limit'> {
  /** `next` of the page before. */
  cursor?: string
  /** Also what mode and rules answered at once. */
  automatic?: boolean
}

export interface DecisionPage {
  decisions: PastDecision[]
  next: string | null
}

type Place = NonNullable<DecidedQuery['before']>

/** The newest first. */
export function pastDecisions(context: EngineContext, query: DecisionQuery): DecisionPage {
  const { sessionId, limit, cursor, automatic = false } = query
  mustBeKnown(context, sessionId)
  const given = {
    ...(sessionId !== undefined && { sessionId }),
    ...(cursor !== undefined && { before: decode(cursor) }),
  }
  const found = [true, ...(automatic ? [false] : [])]
    .flatMap((asked) => context.log.decided({ ...given, asked, limit: limit + 1 }))
    .sort((a, b) => b.decidedAt - a.decidedAt || (a.id < b.id ? 1 : -1))
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    decisions: page.flatMap((row) => described(context, row) ?? []),
    next: last && found.length > limit ? encode(last) : null,
  }
}

/** Null: its session is gone by now. */
function described(context: EngineContext, row: DecidedApproval): PastDecision | null {
  const session = context.log.session(row.sessionId)
  if (!session) return null
  const { title, agent, cwd } = session
  const path = (): string => context.directories.at(session.worktreeOf ?? cwd).path
  return { ...row, title, agent, cwd, rule: ruleMade(row, session, path) }
}

function ruleMade(row: DecidedApproval, site: Site, directory: () => string): LearnedRule | null {
  const { decision } = row
  if (decision.behavior !== 'allow' || !(decision.forSession || decision.forDirectory)) return null
  const text = rulesMadeBy(row, site, decision.forDirectory)
  if (text.length === 0) return null
  return decision.forDirectory
    ? { scope: 'directory', path: directory(), text }
    : { scope: 'session', path: site.cwd, text }
}

/** What "and do not ask again" adds to the rules; nothing, where no rule can tell the same thing from another one. */
export function rulesMadeBy(approval: Approval, site: Site, forDirectory = false): string[] {
  return approval.kind === 'tool' ? rulesFor(approval, site, forDirectory) : []
}

function encode({ decidedAt, id }: Place): string {
  return Buffer.from(JSON.stringify([decidedAt, id])).toString('base64url')
}

function decode(cursor: string): Place {
  try {
    const [decidedAt, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (typeof decidedAt === 'number' && typeof id === 'string') return { decidedAt, id }
  } catch {
    // Not one of ours, whatever it is.
  }
  throw new CorralError('invalid', 'cursor does not come from a history of decisions', { field: 'cursor' })
}
