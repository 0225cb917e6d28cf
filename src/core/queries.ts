import type { Engine } from './api.ts'
import type { Steered } from './command.ts'
import type { Drafts } from './draft.ts'
import { CorralError } from './error.ts'
import { exportPage } from './export/export.ts'
import type { Log } from './ports.ts'
import { search } from './search/search.ts'
import type { Session } from './session.ts'

type Queries = Pick<
  Engine,
  | 'session'
  | 'sessions'
  | 'ancestors'
  | 'sessionByNativeId'
  | 'recentPaths'
  | 'countSessions'
  | 'turn'
  | 'turns'
  | 'approval'
  | 'approvals'
  | 'countApprovals'
  | 'events'
  | 'search'
  | 'exportPage'
  | 'bookmarks'
>

/** The newest state of a session that is there. */
export function existing(drafts: Drafts, sessionId: string): Session {
  const session = drafts.peek(sessionId)
  if (!session || session.destroyed) throw sessionNotFound(sessionId)
  return session
}

function sessionNotFound(sessionId: string): CorralError {
  return new CorralError('session_not_found', `Session not found: ${sessionId}`, { sessionId })
}

/** A message to a running turn that came with this key before. */
export function steerByKey(log: Log, sessionId: string, key: string): Omit<Steered, 'repeated'> | null {
  for (let after = 0; ;) {
    const page = log.events({ sessionId, after, types: ['turn.steered'], limit: 1000 })
    for (const { seq, event } of page) {
      if (event.type !== 'turn.steered' || event.key !== key) continue
      return { steerId: event.steerId, turnId: event.turnId, seq }
    }
    if (page.length < 1000) return null
    after = page.at(-1)!.seq
  }
}

/** The reading half of the engine: committed state only. What a destroyed session has left in the log can still be read. */
export function createQueries(log: Log, drafts: Drafts): Queries {
  function known(sessionId: string | undefined): void {
    if (sessionId !== undefined && !drafts.peek(sessionId)) throw sessionNotFound(sessionId)
  }

  function found<T>(
    row: T | null,
    code: 'turn_not_found' | 'approval_not_found',
    what: string,
    id: string,
  ): T {
    if (row === null) throw new CorralError(code, `No ${what} ${id}`, { id })
    return row
  }

  return {
    session(id) {
      const newest = existing(drafts, id)
      return log.session(id) ?? newest
    },
    sessions: (query) => log.sessions(query),
    ancestors(sessionId) {
      const line: Session[] = []
      const seen = new Set([sessionId])
      let id = existing(drafts, sessionId).parentId
      while (id !== null && !seen.has(id)) {
        seen.add(id)
        const ancestor = log.session(id)
        if (!ancestor) break
        line.push(ancestor)
        id = ancestor.parentId
      }
      return line
    },
    sessionByNativeId: (nativeId) => log.sessionByNativeId(nativeId),
    recentPaths: (limit) => log.recentPaths(limit),
    countSessions: () => log.countSessions(),
    turn: (id) => found(log.turn(id), 'turn_not_found', 'message', id),
    turns(sessionId, limit, moment) {
      known(sessionId)
      return log.turns(sessionId, limit, moment)
    },
    approval: (id) => found(log.approval(id), 'approval_not_found', 'approval', id),
    approvals(query) {
      known(query.sessionId)
      return log.approvals(query)
    },
    countApprovals: () => log.countApprovals(),
    events(query) {
      known(query.sessionId)
      return log.events(query)
    },
    exportPage: (request) => exportPage(log, existing(drafts, request.sessionId), request),
    search(request) {
      known(request.sessionId)
      return search(log, request)
    },
    bookmarks: (owner, sessionId) => log.bookmarks(owner, sessionId),
  }
}
