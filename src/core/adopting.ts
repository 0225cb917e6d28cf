import { heldWords, type FoundConversation, type StoreAnswer } from './adoption.ts'
import type { Effort } from './effort.ts'
import { needs, once, refuseWhenClosing, type EngineContext } from './context.ts'
import { CorralError } from './error.ts'
import type { EventBody } from './event.ts'
import { titleFrom } from './glance.ts'
import type { Mode } from './mode.ts'
import { pastEvents } from './past.ts'
import { NO_RULES } from './rule.ts'
import type { Session } from './session.ts'

/*
 * Goes on with conversations that began without Corral.
 */

export interface ConversationQuery {
  agent?: string
  cwd?: string
  limit: number
  /** Also those that are in Corral already, or were. */
  all?: boolean
}

/** A conversation, and what Corral has to do with it. */
export interface ConversationView extends FoundConversation {
  /** The session that has it; null: none has. */
  sessionId: string | null
  /** Corral has had it: it was begun here, or taken over. */
  known: boolean
}

export interface Conversations extends Pick<StoreAnswer, 'places' | 'truncated'> {
  conversations: ConversationView[]
  /** How many are left out since Corral has them. */
  known: number
}

export interface AdoptConversation {
  agent: string
  /** The agent's own id of it, whole. */
  id: string
  /** `ask` if not given. */
  mode?: Mode
  model?: string | null
  effort?: Effort | null
  title?: string | null
  /** Also where a process may have it open; never where one certainly has. */
  force?: boolean
  origin?: string
}

export interface Adopted {
  session: Session
  /** How many turns were taken over. */
  turns: number
  /** There were more. */
  isCut: boolean
}

export async function listConversations(
  context: EngineContext,
  { agent, cwd, limit, all = false }: ConversationQuery,
): Promise<Conversations> {
  const { log, stores } = context
  if (agent !== undefined) context.catalog.capabilities(agent)
  const isKnown = (name: string, id: string): boolean => log.conversation(name, id) !== null
  const found = await stores?.list({
    ...(agent !== undefined && { agent }),
    ...(cwd !== undefined && { cwd: context.realPath(cwd) }),
    limit,
    skip: all ? () => false : isKnown,
  })
  if (!found) return { conversations: [], known: 0, truncated: false, places: [] }
  const { conversations, skipped: known, truncated, places } = found
  return { conversations: conversations.map((one) => viewOf(context, one)), known, truncated, places }
}

function viewOf({ log }: EngineContext, found: FoundConversation): ConversationView {
  const { agent, id } = found
  const owner = log.conversation(agent, id)
  return { ...found, known: owner !== null, sessionId: sessionWith({ log }, agent, id)?.id ?? null }
}

/** The session that goes on with it now, or has had it and is there. */
function sessionWith({ log }: Pick<EngineContext, 'log'>, agent: string, id: string): Session | null {
  const current = log.sessionByNativeId(id)
  if (current?.agent === agent) return current
  const owner = log.conversation(agent, id)
  const session = owner === null ? null : log.session(owner)
  return session && !session.destroyed ? session : null
}

/** The same conversation twice at the same time is adopted once. */
export function adopt(context: EngineContext, command: AdoptConversation): Promise<Adopted> {
  const { agent, id } = command
  return once(context, `adopt ${agent} ${id}`, () => takeOver(context, command))
}

async function takeOver(context: EngineContext, command: AdoptConversation): Promise<Adopted> {
  const { agent, id } = command
  needs(context, agent, 'resume')
  if (command.effort) needs(context, agent, 'effort')
  refuseWhenClosing(context)
  mustBeNew(context, agent, id)
  const found = await context.stores?.find(agent, id)
  const title = context.catalog.title(agent)
  if (!found) {
    throw new CorralError('conversation_not_found', `${title} has no conversation ${id}`, { agent, id })
  }
  mustBeFree(title, found, command.force === true)
  await context.catalog.require(agent)
  if (!(await context.isDirectory(found.cwd))) {
    const message = `Its directory ${found.cwd} is not there any more; make it again, then adopt the conversation`
    throw new CorralError('path_not_found', message, { path: found.cwd })
  }
  const past = await context.stores!.past(agent, id)
  const { events, turns, isCut } = pastEvents(past, context.newId, found.updatedAt)
  mustBeNew(context, agent, id)
  const draft = context.drafts.of(context.newId())
  draft.add(creation(command, found), ...named(found, isCut), ...left(title, turns, isCut), ...events)
  // Whoever adopts it has been there.
  const { endedSeq } = draft.state
  if (endedSeq !== undefined) draft.add({ type: 'session.marked', readSeq: endedSeq })
  const session = draft.state
  await draft.commit()
  return { session, turns, isCut }
}

function creation(command: AdoptConversation, found: FoundConversation): EventBody {
  const { mode = 'ask', model = null, effort = null, title = null, origin = null } = command
  const { agent, id: nativeId, cwd } = found
  const given = { agent, cwd, mode, model, effort, title, settings: {}, nativeId, origin }
  return { type: 'session.created', ...given, rules: NO_RULES, parentId: null, forkFrom: null }
}

/** It is called by how it began, unless the beginning is not there. */
function named({ title, opening }: FoundConversation, isCut: boolean): EventBody[] {
  const toldTitle = titleFrom(title ?? (isCut ? (opening ?? '') : ''))
  return toldTitle === null ? [] : [{ type: 'session.changed', reason: 'agent', toldTitle }]
}

function left(title: string, turns: number, isCut: boolean): EventBody[] {
  if (!isCut) return []
  const message = `Corral has taken over the last ${turns} turns of this conversation; ${title} itself knows what was before them`
  return [{ type: 'agent.notice', level: 'info', code: 'history_cut', message, data: { turns } }]
}

function mustBeNew(context: EngineContext, agent: string, id: string): void {
  const session = sessionWith(context, agent, id)
  if (!session) return
  const message = `This conversation is in Corral already: it is session ${session.id}`
  throw new CorralError('conversation_adopted', message, { sessionId: session.id })
}

function mustBeFree(title: string, { holder, cwd }: FoundConversation, force: boolean): void {
  if (!holder || (force && !holder.certain)) return
  throw new CorralError('conversation_busy', heldWords(title, holder, cwd, ''), {
    reason: holder.certain ? 'open_elsewhere' : 'maybe_open_elsewhere',
    pid: holder.pid,
  })
}
