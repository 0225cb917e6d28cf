import { emptyConversation, step } from '../../core/conversation/conversation.ts'
import type { EventType } from '../../core/event.ts'
import { EXTERNAL_AGENT } from '../../core/external.ts'
import { isWish } from './compaction.ts'
import { createConversation, TYPES } from './conversation.ts'
import { failure } from './errors.ts'
import { saidIn } from './messages.ts'
import type { Context } from './method.ts'
import { modelId, providerOf, shownLevel } from './models.ts'
import type { Corral, SessionView } from './ports.ts'
import { seqOf } from './record.ts'
import type { Replayed } from './wire.ts'

const DEFAULT_LIMIT = 100
const TITLE_LIMIT = 80
/** What becomes of messages up to the beginning of their turns. */
const WAITING: EventType[] = ['turn.queued', 'turn.edited', 'turn.cancelled', 'turn.started']

/** Sessions in which something was said, the most recently active first. */
async function savedSessions(corral: Corral): Promise<SessionView[]> {
  const found: SessionView[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<Corral['sessions']>> = await corral.sessions(cursor)
    found.push(...page.sessions.filter((one) => one.turnCount > 0 && one.agent !== EXTERNAL_AGENT))
    cursor = page.next
  } while (cursor !== null)
  return found
}

export async function listSaved(
  context: Context,
  wanted: { limit?: number | undefined; cursor?: number | undefined },
) {
  const limit = Math.max(1, Math.trunc(wanted.limit || DEFAULT_LIMIT))
  const cursor = Math.max(0, Math.trunc(wanted.cursor ?? 0))
  const all = await savedSessions(context.corral)
  const page = all.slice(cursor, cursor + limit)
  const sessions = []
  // One by one: what was said last in them may be large.
  for (const session of page) sessions.push(await summaryOf(context, session))
  const next = cursor + page.length
  return { total: all.length, cursor, limit, sessions, next_cursor: next < all.length ? next : null }
}

async function summaryOf({ corral, choices }: Context, session: SessionView, messages?: number) {
  const { id, agent, modelInUse: model, createdAt, activeAt, turnCount } = session
  const provider = providerOf(agent)
  const title = session.title ?? saidIn(await corral.lastMessage(id)).text
  const { thinking, routing } = choices.selected(id)
  return {
    id,
    title: title.replace(/\s+/g, ' ').trim().slice(0, TITLE_LIMIT),
    // Agents of the user's own have no provider's name, and go by theirs.
    provider: provider ?? agent,
    model: provider === null ? (model ?? 'default') : modelId(provider, model),
    thinkingLevel: session.effort === null ? thinking : shownLevel(session.effort),
    ...(provider === 'openrouter' && { openRouterProvider: routing }),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(activeAt).toISOString(),
    // Without reading it all: a question and an answer for each turn in which something was said.
    messageCount: messages ?? (turnCount - (await compressions(corral, id))) * 2,
    rolloutPath: rolloutPath(session),
  }
}

/** How many turns only had the conversation summed up. Most sessions have none, and are not looked at any further. */
async function compressions(corral: Corral, sessionId: string): Promise<number> {
  const { events } = await corral.read(sessionId, ['agent.compacting', 'agent.compacted'], 0)
  const conversation = emptyConversation()
  let count = 0
  for (let after = 0, more = events.length > 0; more;) {
    const page = await corral.read(sessionId, WAITING, after)
    for (const event of page.events) {
      const said = step(conversation, event).filter((change) => change.type === 'said')
      count += said.filter(({ message }) => isWish(message)).length
      after = event.seq
    }
    more = page.more
  }
  return count
}

/** A name in the shape of a path, as clients know it; there is no such file. */
function rolloutPath({ id, createdAt }: Pick<SessionView, 'id' | 'createdAt'>): string {
  const [date, time] = new Date(createdAt).toISOString().slice(0, 19).split('T') as [string, string]
  return `corral/sessions/${date.replaceAll('-', '/')}/rollout-${date}T${time.replaceAll(':', '-')}-${id}.jsonl`
}

export interface SavedWish {
  last: boolean | undefined
  rolloutPath: string | undefined
  id: string | undefined
}

export async function findSaved({ corral }: Context, wish: SavedWish): Promise<SessionView> {
  const { last, rolloutPath: path, id } = wish
  if (!last && path === undefined && id === undefined) {
    throw failure('history.get requires one of: id, last, rollout_path', 'invalid')
  }
  const all = await savedSessions(corral)
  if (last) {
    if (all[0]) return all[0]
    throw failure('no saved chat history yet', 'session_not_found')
  }
  if (path !== undefined) {
    const found = all.find((session) => rolloutPath(session) === path)
    if (found) return found
    throw failure(`failed to load chat: ${path}`, 'session_not_found')
  }
  const wanted = (id ?? '').toLowerCase()
  const begun = all.filter((session) => session.id.toLowerCase().startsWith(wanted))
  const found = begun.find((session) => session.id.toLowerCase() === wanted) ?? begun[0]
  if (found && (begun.length === 1 || found.id.length === wanted.length)) return found
  throw failure(`no saved chat matched id: ${id}`, 'session_not_found')
}

export async function loadSaved(context: Context, session: SessionView) {
  const { conversation } = await folded(context, session, Infinity)
  const messages = conversation.record.history
  return { ...(await summaryOf(context, session, messages.length)), messages }
}

/** The events of a session after this number, as far as the log still has them. */
export async function replay(context: Context, sessionId: string, after: number, limit: number) {
  const { events, more } = await folded(context, await context.corral.session(sessionId), after, limit)
  return { session_id: sessionId, events, next: more ? (events.at(-1)?.seq ?? null) : null }
}

async function folded({ corral, debug }: Context, session: SessionView, after: number, limit = 0) {
  const conversation = createConversation({
    sessionId: session.id,
    provider: () => providerOf(session.agent),
  })
  const events: Replayed[] = []
  let at = 0
  for (;;) {
    const page = await corral.read(session.id, TYPES, at)
    for (const event of page.events) {
      at = event.seq
      const timestamp = new Date(event.at).toISOString()
      const told = conversation.step(event).map((one, index) => ({ ...one, seq: seqOf(event, index) }))
      const wanted = told.filter(({ seq, type }) => seq > after && (debug.on || type !== 'session.debug'))
      events.push(...wanted.map(({ type, seq, payload }) => ({ type, timestamp, seq, payload })))
      if (limit > 0 && events.length > limit) {
        return { conversation, events: events.slice(0, limit), more: true }
      }
    }
    if (!page.more) return { conversation, events, more: false }
  }
}
