import { uuid } from '../../../core/ids.ts'
import { decodePage, encodePage } from '../../../core/page.ts'
import type { Session } from '../../../core/session.ts'
import { continueSession } from '../continue.ts'
import { findSession } from '../ids.ts'
import { begin, ORIGIN, rulesOf, settingsOf, skipUntil, workingDirectory } from '../launch.ts'
import { HumanLayerError, method } from '../method.ts'
import { statusOf } from '../status.ts'
import { isoTime } from '../text.ts'
import { sessionList, sessionView } from '../views.ts'
import * as wire from '../wire.ts'

const MAX_LISTED = 1000
const RECENT_PATHS = 20
const { required } = wire

export const sessionMethods = [
  method({
    name: 'launchSession',
    params: wire.launchParams,
    async handler(params, { engine, options }) {
      const query = required(params.query, 'query')
      const id = uuid()
      const cwd = await workingDirectory(params.working_dir, options)
      const place = { home: options.home, cwd }
      const settings = settingsOf(params, place, { sessionId: id, socket: options.socket })
      await engine.sessions.create({
        id,
        agent: params.agent || options.agent,
        cwd,
        mode: 'ask',
        model: params.model || null,
        title: params.title || null,
        settings,
        rules: rulesOf(params, options.askAlways, Date.now()),
        origin: ORIGIN,
      })
      return begin(engine, id, query)
    },
  }),
  method({ name: 'continueSession', params: wire.continueParams, handler: continueSession }),
  method({
    name: 'interruptSession',
    params: wire.sessionParams,
    async handler(params, { engine }) {
      const session = findSession(engine, required(params.session_id, 'session_id'))
      mustBeRunning(session)
      await engine.turns.interrupt({ sessionId: session.id, clearQueue: true })
      return { success: true, session_id: session.id, status: 'completing' }
    },
  }),
  method({
    name: 'listSessions',
    params: wire.listParams,
    heavy: true,
    async handler({ limit, cursor, archived }, { engine }) {
      const size = limit ? Math.min(limit, MAX_LISTED) : MAX_LISTED
      const before = cursor ? decodePage(cursor) : null
      if (cursor && !before) {
        throw wire.wrong('invalid request: cursor: not one that listSessions gave out', 'cursor')
      }
      const found = engine.sessions.list({
        before,
        limit: size + 1,
        ...(archived !== undefined && { archived }),
      })
      const page = found.slice(0, size)
      const last = page.at(-1)
      return {
        sessions: await sessionList(engine, page),
        ...(last && found.length > size && { next_cursor: encodePage(last) }),
      }
    },
  }),
  method({
    name: 'getSessionLeaves',
    params: wire.leavesParams,
    heavy: true,
    async handler({ filter }, { engine }) {
      if (filter === 'draft') return { sessions: [] }
      const archived = filter === 'archived'
      const only = filter === 'normal' || archived ? { archived } : {}
      const found = engine.sessions.list({ leaves: true, limit: MAX_LISTED, ...only })
      return { sessions: await sessionList(engine, found) }
    },
  }),
  method({
    name: 'getSessionState',
    params: wire.sessionParams,
    handler(params, { engine }) {
      const session = findSession(engine, required(params.session_id, 'session_id'))
      return { session: sessionView(engine, session) }
    },
  }),
  method({
    name: 'updateSessionSettings',
    params: wire.settingsParams,
    async handler(params, { engine }) {
      const { id } = findSession(engine, required(params.session_id, 'session_id'))
      const { auto_accept_edits: acceptEdits, dangerously_skip_permissions: skip } = params
      const until = skip ? skipUntil(params.dangerously_skip_permissions_timeout_ms, Date.now()) : null
      const rules = {
        ...(acceptEdits !== undefined && { acceptEdits }),
        ...(skip !== undefined && { skipUntil: until }),
      }
      if (Object.keys(rules).length > 0) await engine.sessions.configure({ sessionId: id, rules })
      return { success: true }
    },
  }),
  method({
    name: 'updateSessionTitle',
    params: wire.titleParams,
    async handler({ session_id, title }, { engine }) {
      const { id } = findSession(engine, required(session_id, 'session_id'))
      if (title === undefined) throw wire.wrong('title is required', 'title')
      await engine.sessions.configure({ sessionId: id, title })
      return { success: true }
    },
  }),
  method({
    name: 'archiveSession',
    params: wire.archiveParams,
    async handler({ session_id, archived }, { engine }) {
      const { id } = findSession(engine, required(session_id, 'session_id'))
      await engine.sessions.configure({ sessionId: id, archived: given(archived) })
      return { success: true }
    },
  }),
  method({
    name: 'bulkArchiveSessions',
    params: wire.bulkArchiveParams,
    async handler({ session_ids, archived }, { engine }) {
      if (!session_ids?.length) throw wire.wrong('session_ids is required', 'session_ids')
      const wanted = given(archived)
      const failed: string[] = []
      for (const id of session_ids) {
        try {
          await engine.sessions.configure({ sessionId: findSession(engine, id).id, archived: wanted })
        } catch {
          failed.push(id)
        }
      }
      return { success: failed.length === 0, ...(failed.length > 0 && { failed_sessions: failed }) }
    },
  }),
  method({
    name: 'getRecentPaths',
    params: wire.pathsParams,
    handler({ limit }, { engine }) {
      const paths = engine.sessions.recentPaths(Math.min(limit || RECENT_PATHS, MAX_LISTED))
      return {
        paths: paths.map(({ path, usedAt, sessions }) => {
          return { path, last_used: isoTime(usedAt), usage_count: sessions }
        }),
      }
    },
  }),
]

function mustBeRunning(session: Session): void {
  const status = statusOf(session)
  if (status === 'running' || status === 'waiting_input') return
  const message = `cannot interrupt session with status ${status} (must be running)`
  throw new HumanLayerError(message, { code: 'wrong_status', field: 'session_id' })
}

function given(archived: boolean | undefined): boolean {
  if (archived === undefined) throw wire.wrong('archived is required', 'archived')
  return archived
}
