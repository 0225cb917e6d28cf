import { adopt } from './adopting.ts'
import type { Sessions } from './api.ts'
import type { Surroundings } from './approving.ts'
import type { ConfigureSession, CreateSession, ForkSession, PlaceMaker } from './command.ts'
import { conversationAt, conversationBefore } from './conversation/reader.ts'
import * as decide from './decide.ts'
import { CorralError } from './error.ts'
import type { EventOf } from './event.ts'
import { exportPage } from './export/export.ts'
import { EXTERNAL_AGENT } from './external.ts'
import { change, existing, needs, once, refuseWhenClosing, type EngineContext } from './context.ts'
import { mark } from './marking.ts'
import { afterTurn, asItIs } from './branching.ts'
import { ancestorsOf, lineageOf } from './lineage.ts'
import { NO_RULES } from './rule.ts'
import type { Session } from './session.ts'
import { mustBeSound } from './settings.ts'

interface SessionsDeps extends EngineContext {
  /** What a session's rules are looked at together with. */
  readonly around: (session: Session) => Surroundings
  /** Resolves when the session's process is gone. */
  readonly ended: (sessionId: string) => Promise<void>
}

/** The noun `sessions` of the engine. */
export function createSessions(context: SessionsDeps): Sessions {
  const { log } = context
  return {
    create: (command, place) =>
      newOnce(context, command.key, () =>
        place ? createIn(context, command, place) : create(context, command),
      ),
    fork: (command) => newOnce(context, command.key, () => fork(context, command)),
    adopt: (command) => adopt(context, command),
    configure: (command) => configure(context, command),
    async mark({ sessionId, ...wanted }) {
      const around = { now: context.clock.now(), head: log.head }
      await change(context, sessionId, (state) => mark(state, wanted, around))
      return existing(context, sessionId)
    },
    async pause(sessionId) {
      const { agent, turn } = existing(context, sessionId)
      if (turn) needs(context, agent, 'pause')
      await change(context, sessionId, (state) => decide.setPaused(state, true))
      return existing(context, sessionId)
    },
    async resume(sessionId) {
      existing(context, sessionId)
      const draft = context.drafts.of(sessionId)
      draft.add(...decide.setPaused(draft.state, false))
      draft.add(...decide.advance(draft.state))
      await draft.commit()
      return existing(context, sessionId)
    },
    async destroy(sessionId) {
      existing(context, sessionId)
      const draft = context.drafts.of(sessionId)
      draft.abortOpenMessages()
      draft.add(...decide.destroy(draft.state))
      const { unsent } = draft.state
      if (unsent) draft.write({ op: 'event.drop', seq: unsent.seq })
      await draft.commit()
      await context.ended(sessionId)
    },
    get(id) {
      const newest = existing(context, id)
      return log.session(id) ?? newest
    },
    list: (query) => log.sessions(query),
    count: () => log.countSessions(),
    byNativeId: (nativeId) => log.sessionByNativeId(nativeId),
    ancestors: (sessionId) => ancestorsOf(log, existing(context, sessionId)),
    lineage: (sessionId) => lineageOf(log, existing(context, sessionId)),
    recentPaths: (limit) => log.recentPaths(limit),
    conversationAt: (sessionId, moment) => conversationAt(log, sessionId, moment),
    conversationBefore: (event) => conversationBefore(log, event),
    exportPage: (request) => exportPage(log, existing(context, request.sessionId), request),
  }
}

/** A new session, or the one that this key has made before. */
function newOnce(
  context: EngineContext,
  key: string | undefined,
  work: () => Promise<Session>,
): Promise<Session> {
  return once(context, key && `create ${key}`, async () => {
    const known = key === undefined ? null : context.log.sessionByKey(key)
    if (known) return known
    refuseWhenClosing(context)
    return work()
  })
}

async function begin(
  { drafts, newId }: EngineContext,
  { id = newId(), key }: { id?: string; key?: string },
  body: Omit<EventOf<'session.created'>, 'type'>,
): Promise<Session> {
  mustBeFree(drafts, id)
  const draft = drafts.of(id)
  draft.add({ type: 'session.created', ...body })
  const { state } = draft
  await draft.commit(key)
  return state
}

function mustBeFree(drafts: EngineContext['drafts'], id: string): void {
  if (!drafts.peek(id)) return
  const message = `A session with the id ${id} exists already; choose another id`
  throw new CorralError('invalid', message, { field: 'id' })
}

async function createIn(context: EngineContext, command: CreateSession, place: PlaceMaker): Promise<Session> {
  if (command.id !== undefined) mustBeFree(context.drafts, command.id)
  const made = await place.make()
  try {
    return await create(context, { ...command, ...made })
  } catch (error) {
    await place.unmake(made.id).catch(() => {})
    throw error
  }
}

async function create(context: EngineContext, command: CreateSession): Promise<Session> {
  await mustBeAble(context, command)
  const {
    agent,
    cwd,
    mode = 'auto',
    model = null,
    effort = null,
    title = null,
    settings = {},
    nativeId = null,
    rules = NO_RULES,
    parentId = null,
    origin = null,
    worktreeOf,
  } = command
  const given = { agent, cwd, mode, model, effort, title, settings, nativeId, rules, origin }
  const from = worktreeOf === undefined ? {} : { worktreeOf }
  return begin(context, command, { ...given, ...from, parentId, forkFrom: null })
}

/** What an agent cannot do is refused before anything is written down. */
async function mustBeAble(context: EngineContext, command: CreateSession): Promise<void> {
  const { agent, cwd, nativeId, settings, effort } = command
  if (nativeId) mustBeResumable(context, agent, nativeId, cwd)
  mustBeSound(settings)
  if (settings?.clientTools?.length) needs(context, agent, 'clientTools')
  if (settings?.ownTools === false) needs(context, agent, 'bare')
  if (effort) needs(context, agent, 'effort')
  if (agent !== EXTERNAL_AGENT) await context.catalog.require(agent)
  if (await context.isDirectory(cwd)) return
  throw new CorralError('path_not_found', `${cwd} is not a directory; give one that exists`, { path: cwd })
}

/** Where a conversation belongs is known only of those that are Corral's; of others the agent itself has to say it. */
function mustBeResumable(context: EngineContext, agent: string, nativeId: string, cwd: string): void {
  needs(context, agent, 'resume')
  const known = context.log.sessionByNativeId(nativeId)
  if (known?.agent === agent && context.realPath(known.cwd) !== context.realPath(cwd)) {
    needs(context, agent, 'relocate')
  }
}

async function fork(context: EngineContext, command: ForkSession): Promise<Session> {
  const source = existing(context, command.sessionId)
  const { turnId } = command
  const place = turnId === undefined ? asItIs(context, source) : afterTurn(context, source, turnId)
  mustBeSound(command.settings)
  const { agent, cwd, mode, rules, worktreeOf } = source
  const {
    title = source.title,
    model = source.model,
    effort = source.effort ?? null,
    settings = source.settings,
    origin = null,
  } = command
  const given = { agent, cwd, mode, model, effort, title, settings, rules, origin }
  const from = worktreeOf === undefined ? {} : { worktreeOf }
  return begin(context, command, { ...given, ...from, nativeId: null, ...place })
}

async function configure(context: SessionsDeps, command: ConfigureSession): Promise<Session> {
  const { sessionId, model, effort, mode, plan, nativeId } = command
  const { agent } = existing(context, sessionId)
  if (model !== undefined) needs(context, agent, 'setModel')
  if (effort) needs(context, agent, 'effort')
  if (mode !== undefined || plan !== undefined) needs(context, agent, 'setMode')
  if (nativeId) needs(context, agent, 'resume')
  await change(context, sessionId, (state) => decide.configure(state, command, context.around(state)))
  return existing(context, sessionId)
}
