import type { Sessions } from './api.ts'
import type { Surroundings } from './approving.ts'
import type { ConfigureSession, CreateSession, ForkSession } from './command.ts'
import { conversationAt, conversationBefore } from './conversation/reader.ts'
import * as decide from './decide.ts'
import { CorralError } from './error.ts'
import type { EventOf } from './event.ts'
import { exportPage } from './export/export.ts'
import { EXTERNAL_AGENT } from './external.ts'
import { change, existing, needs, once, refuseWhenClosing, type Heart } from './heart.ts'
import { NO_RULES } from './rule.ts'
import type { Session } from './session.ts'
import { mustBeSound } from './settings.ts'

interface SessionsDeps extends Heart {
  /** What a session's rules are looked at together with. */
  readonly around: (session: Session) => Surroundings
  /** Resolves when the session's process is gone. */
  readonly ended: (sessionId: string) => Promise<void>
}

/** The noun `sessions` of the engine. */
export function createSessions(heart: SessionsDeps): Sessions {
  const { log } = heart
  return {
    create: (command) => newOnce(heart, command.key, () => create(heart, command)),
    fork: (command) => newOnce(heart, command.key, () => fork(heart, command)),
    configure: (command) => configure(heart, command),
    async pause(sessionId) {
      const { agent, turn } = existing(heart, sessionId)
      if (turn) needs(heart, agent, 'pause')
      await change(heart, sessionId, (state) => decide.setPaused(state, true))
      return existing(heart, sessionId)
    },
    async resume(sessionId) {
      existing(heart, sessionId)
      const draft = heart.drafts.of(sessionId)
      draft.add(...decide.setPaused(draft.state, false))
      draft.add(...decide.advance(draft.state))
      await draft.commit()
      return existing(heart, sessionId)
    },
    async destroy(sessionId) {
      existing(heart, sessionId)
      const draft = heart.drafts.of(sessionId)
      draft.abortOpenMessages()
      draft.add(...decide.destroy(draft.state))
      await draft.commit()
      await heart.ended(sessionId)
    },
    get(id) {
      const newest = existing(heart, id)
      return log.session(id) ?? newest
    },
    list: (query) => log.sessions(query),
    count: () => log.countSessions(),
    byNativeId: (nativeId) => log.sessionByNativeId(nativeId),
    ancestors: (sessionId) => ancestors(heart, sessionId),
    recentPaths: (limit) => log.recentPaths(limit),
    conversationAt: (sessionId, moment) => conversationAt(log, sessionId, moment),
    conversationBefore: (event) => conversationBefore(log, event),
    exportPage: (request) => exportPage(log, existing(heart, request.sessionId), request),
  }
}

/** A new session, or the one that this key has made before. */
function newOnce(heart: Heart, key: string | undefined, work: () => Promise<Session>): Promise<Session> {
  return once(heart, key && `create ${key}`, async () => {
    const known = key === undefined ? null : heart.log.sessionByKey(key)
    if (known) return known
    refuseWhenClosing(heart)
    return work()
  })
}

async function begin(
  { drafts, newId }: Heart,
  { id = newId(), key }: { id?: string; key?: string },
  body: Omit<EventOf<'session.created'>, 'type'>,
): Promise<Session> {
  if (drafts.peek(id))
    throw new CorralError('invalid', `A session with the id ${id} exists already; choose another id`, {
      field: 'id',
    })
  const draft = drafts.of(id)
  draft.add({ type: 'session.created', ...body })
  const { state } = draft
  await draft.commit(key)
  return state
}

async function create(heart: Heart, command: CreateSession): Promise<Session> {
  await mustBeAble(heart, command)
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
  } = command
  const given = { agent, cwd, mode, model, effort, title, settings, nativeId, rules, origin }
  return begin(heart, command, { ...given, parentId, forkFrom: null })
}

/** What an agent cannot do is refused before anything is written down. */
async function mustBeAble(heart: Heart, command: CreateSession): Promise<void> {
  const { agent, cwd, nativeId, settings, effort } = command
  if (nativeId) mustBeResumable(heart, agent, nativeId, cwd)
  mustBeSound(settings)
  if (settings?.clientTools?.length) needs(heart, agent, 'clientTools')
  if (settings?.ownTools === false) needs(heart, agent, 'bare')
  if (effort) needs(heart, agent, 'effort')
  if (agent !== EXTERNAL_AGENT) await heart.catalog.require(agent)
  if (await heart.isDirectory(cwd)) return
  throw new CorralError('path_not_found', `${cwd} is not a directory; give one that exists`, { path: cwd })
}

/** Where a conversation belongs is known only of those that are Corral's; of others the agent itself has to say it. */
function mustBeResumable(heart: Heart, agent: string, nativeId: string, cwd: string): void {
  needs(heart, agent, 'resume')
  const known = heart.log.sessionByNativeId(nativeId)
  if (known?.agent === agent && heart.realPath(known.cwd) !== heart.realPath(cwd)) {
    needs(heart, agent, 'relocate')
  }
}

async function fork(heart: Heart, command: ForkSession): Promise<Session> {
  const parent = existing(heart, command.sessionId)
  needs(heart, parent.agent, 'fork')
  mustBeSound(command.settings)
  const { agent, cwd, mode, rules } = parent
  const {
    title = parent.title,
    model = parent.model,
    effort = parent.effort ?? null,
    settings = parent.settings,
    origin = null,
  } = command
  const forkFrom = parent.nativeId ?? parent.forkFrom
  const given = { agent, cwd, mode, model, effort, title, settings, rules, origin }
  return begin(heart, command, { ...given, nativeId: null, parentId: parent.id, forkFrom })
}

async function configure(heart: SessionsDeps, command: ConfigureSession): Promise<Session> {
  const { sessionId, model, effort, mode, plan, nativeId } = command
  const { agent } = existing(heart, sessionId)
  if (model !== undefined) needs(heart, agent, 'setModel')
  if (effort) needs(heart, agent, 'effort')
  if (mode !== undefined || plan !== undefined) needs(heart, agent, 'setMode')
  if (nativeId) needs(heart, agent, 'resume')
  await change(heart, sessionId, (state) => decide.configure(state, command, heart.around(state)))
  return existing(heart, sessionId)
}

function ancestors(heart: Heart, sessionId: string): Session[] {
  const line: Session[] = []
  const seen = new Set([sessionId])
  let id = existing(heart, sessionId).parentId
  while (id !== null && !seen.has(id)) {
    seen.add(id)
    const ancestor = heart.log.session(id)
    if (!ancestor) break
    line.push(ancestor)
    id = ancestor.parentId
  }
  return line
}
