import { z } from 'zod'
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
import * as shapes from '../shapes.ts'
import * as wire from '../wire.ts'

const MAX_LISTED = 1000
const RECENT_PATHS = 20

const LAUNCH_ERRORS = ['path_not_found', 'agent_unknown', 'agent_missing', 'unsupported'] as const
const sessions = z.array(shapes.session).describe('with long texts cut')

export const sessionMethods = [
  method({
    name: 'launchSession',
    scope: 'use',
    repeat: 'never',
    errors: LAUNCH_ERRORS,
    summary: 'Makes a session and gives it its first message.',
    params: wire.launchParams,
    result: shapes.launched,
    async handler(params, { engine, options }) {
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
      return begin(engine, id, params.query)
    },
  }),
  method({
    name: 'continueSession',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'wrong_status', 'conversation_busy', ...LAUNCH_ERRORS],
    summary:
      'Makes a child of a session, which goes on where its parent is now, and gives it a message. A parent that runs is interrupted.',
    params: wire.continueParams,
    result: shapes.continued,
    handler: continueSession,
  }),
  method({
    name: 'interruptSession',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'wrong_status'],
    summary: 'Stops what the session does, empties its queue and takes back its questions.',
    params: wire.sessionParams,
    result: shapes.done.extend({ session_id: z.string(), status: z.literal('completing') }),
    async handler(params, { engine }) {
      const session = findSession(engine, params.session_id)
      mustBeRunning(session)
      await engine.turns.interrupt({ sessionId: session.id, clearQueue: true })
      return { success: true as const, session_id: session.id, status: 'completing' as const }
    },
  }),
  method({
    name: 'listSessions',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'All sessions, the last active one first.',
    params: wire.listParams,
    result: z.object({ sessions, next_cursor: z.string().exactOptional().describe('there are more') }),
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
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The sessions that no other goes on from, 1,000 at most.',
    params: wire.leavesParams,
    result: z.object({ sessions }),
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
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'One session, with its texts in full.',
    params: wire.sessionParams,
    result: z.object({ session: shapes.session }),
    handler(params, { engine }) {
      const session = findSession(engine, params.session_id)
      return { session: sessionView(engine, session) }
    },
  }),
  method({
    name: 'updateSessionSettings',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'What passes without a question from now on; it also answers what waits.',
    params: wire.settingsParams,
    result: shapes.done,
    async handler(params, { engine }) {
      const { id } = findSession(engine, params.session_id)
      const { auto_accept_edits: acceptEdits, dangerously_skip_permissions: skip } = params
      const until = skip ? skipUntil(params.dangerously_skip_permissions_timeout_ms, Date.now()) : null
      const rules = {
        ...(acceptEdits !== undefined && { acceptEdits }),
        ...(skip !== undefined && { skipUntil: until }),
      }
      if (Object.keys(rules).length > 0) await engine.sessions.configure({ sessionId: id, rules })
      return { success: true as const }
    },
  }),
  method({
    name: 'updateSessionTitle',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'Gives a session another title.',
    params: wire.titleParams,
    result: shapes.done,
    async handler({ session_id, title }, { engine }) {
      const { id } = findSession(engine, session_id)
      await engine.sessions.configure({ sessionId: id, title })
      return { success: true as const }
    },
  }),
  method({
    name: 'archiveSession',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'Puts a session into the archive, or takes it out.',
    params: wire.archiveParams,
    result: shapes.done,
    async handler({ session_id, archived }, { engine }) {
      const { id } = findSession(engine, session_id)
      await engine.sessions.configure({ sessionId: id, archived })
      return { success: true as const }
    },
  }),
  method({
    name: 'bulkArchiveSessions',
    scope: 'use',
    repeat: 'idempotent',
    errors: [],
    summary: 'The same for several; `failed_sessions` are those that it could not be done for.',
    params: wire.bulkArchiveParams,
    result: z.object({ success: z.boolean(), failed_sessions: z.array(z.string()).exactOptional() }),
    async handler({ session_ids, archived }, { engine }) {
      const failed: string[] = []
      for (const id of session_ids) {
        try {
          await engine.sessions.configure({ sessionId: findSession(engine, id).id, archived })
        } catch {
          failed.push(id)
        }
      }
      return { success: failed.length === 0, ...(failed.length > 0 && { failed_sessions: failed }) }
    },
  }),
  method({
    name: 'getRecentPaths',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The directories that sessions have worked in, the last used first.',
    params: wire.pathsParams,
    result: z.object({ paths: z.array(shapes.recentPath) }),
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
