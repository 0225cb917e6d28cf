import type { Engine } from '../../core/api.ts'
import type { Bookmark } from '../../core/ports.ts'
import type { DialectLog } from '../dialect.ts'

export const OWNER = 'codecast'

/**
 * Which turns a client has not certainly read to their end. A bookmark is made with the message and goes when its stream was
 * flushed to the last byte, or when `session.reconnect` has returned the turn's end: it outlives the daemon.
 */
export interface Bookmarks {
  opened(turnId: string): void
  closed(turnId: string, complete: boolean): void
  /** Whether the client knows that it has to come back for this turn. */
  told(turnId: string, knows: boolean): void
  /** Bookmarks of turns that no open stream is telling, oldest first. */
  waiting(sessionId: string): Bookmark[]
  moved(bookmark: Bookmark, seq: number): void
  done(turnId: string): void
  /** The client has said that it is back. */
  welcome(sessionId: string): void
  connected(sessionId: string): boolean
  forget(sessionId: string): void
}

export function createBookmarks(engine: Engine, log: DialectLog): Bookmarks {
  const open = new Map<string, number>()
  /** What is on its way to the log: a turn's new place, `Infinity` for done. */
  const uncommitted = new Map<string, number>()
  /** Turns that the client knows it has to come back for. */
  const known = new Set<string>()

  function store(turnId: string, place: number, commit: () => Promise<void>): void {
    uncommitted.set(turnId, place)
    commit()
      .catch((error: unknown) => log.warn({ turnId, err: error }, 'Codecast bookmark not stored'))
      .finally(() => uncommitted.get(turnId) === place && uncommitted.delete(turnId))
      .catch(() => undefined)
  }

  function done(turnId: string): void {
    known.delete(turnId)
    store(turnId, Infinity, () => engine.bookmarks.remove(OWNER, turnId))
  }

  function waiting(sessionId: string): Bookmark[] {
    return (
      engine.bookmarks
        .list(OWNER, sessionId)
        .map((bookmark) => ({ ...bookmark, seq: uncommitted.get(bookmark.turnId) ?? bookmark.seq }))
        .filter(({ turnId, seq }) => !open.has(turnId) && seq !== Infinity)
        // Ids of turns are in the order of their messages; places are not, once one has moved.
        .sort((a, b) => (a.turnId < b.turnId ? -1 : 1))
    )
  }

  return {
    opened(turnId) {
      open.set(turnId, (open.get(turnId) ?? 0) + 1)
    },
    closed(turnId, complete) {
      const left = (open.get(turnId) ?? 1) - 1
      if (left > 0) open.set(turnId, left)
      else open.delete(turnId)
      if (complete) done(turnId)
      else known.delete(turnId)
    },
    told(turnId, knows) {
      if (knows) known.add(turnId)
      else known.delete(turnId)
    },
    waiting,
    moved(bookmark, seq) {
      store(bookmark.turnId, seq, () => engine.bookmarks.set({ ...bookmark, seq }))
    },
    done,
    welcome(sessionId) {
      for (const { turnId } of waiting(sessionId)) known.add(turnId)
    },
    connected: (sessionId) => waiting(sessionId).every(({ turnId }) => known.has(turnId)),
    forget(sessionId) {
      for (const { turnId } of waiting(sessionId)) done(turnId)
    },
  }
}
