import type { Engine } from '../../core/api.ts'
import { modelInUse } from '../../core/model.ts'
import { type Session, statusOf } from '../../core/session.ts'
import type { Bookmarks } from './bookmarks.ts'
import { replay } from './replay.ts'
import type { HealthView, QueueView, SessionView } from './wire.ts'

const PAGE = 200
const MB = 1024 * 1024

export interface Versions {
  /** What Codecast's own side compares its version with. */
  codecast: string
  corral: string
}

/** Every session, the newest first, whatever has been going on in them. */
export function allSessions(engine: Engine): Session[] {
  const all: Session[] = []
  for (;;) {
    const last = all.at(-1)
    const before = last ? { activeAt: last.activeAt, id: last.id } : null
    const page = engine.sessions.list({ before, limit: PAGE })
    all.push(...page)
    if (page.length < PAGE) break
  }
  return all.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
}

export function sessionView(session: Session): SessionView {
  return {
    sessionId: session.id,
    path: session.cwd,
    status: statusOf(session) === 'idle' ? 'idle' : 'busy',
    mode: session.mode,
    cliType: session.agent,
    sdkSessionId: session.nativeId,
    model: modelInUse(session),
    createdAt: new Date(session.createdAt).toISOString(),
    lastActivityAt: new Date(session.activeAt).toISOString(),
  }
}

export function queueView(engine: Engine, bookmarks: Bookmarks, session: Session): QueueView {
  return {
    userPending: session.queue.length,
    // What is counted is what would be told: there is no second way to say how much that is.
    responsePending: replay(engine, bookmarks, session.id).lines.length,
    clientConnected: bookmarks.connected(session.id),
  }
}

/** To ask for it takes longer than to answer the rest, and whole megabytes are told: once a second is enough. */
const MEMORY_MS = 1000
let asked = -Infinity
let found = process.memoryUsage()

function memory(): NodeJS.MemoryUsage {
  const now = performance.now()
  if (now - asked >= MEMORY_MS) {
    asked = now
    found = process.memoryUsage()
  }
  return found
}

export function healthView(engine: Engine, uptime: number, versions: Versions): HealthView {
  const { idle, running, waiting, paused } = engine.sessions.count()
  const busy = running + waiting + paused
  const { rss, heapUsed, heapTotal } = memory()
  return {
    ok: true,
    sessions: idle + busy,
    // A session whose turn has failed takes the next message, and one that was destroyed is no more: see `session.list`.
    sessionsByStatus: { idle, busy, error: 0, destroyed: 0 },
    uptime,
    memory: { rss: megabytes(rss), heapUsed: megabytes(heapUsed), heapTotal: megabytes(heapTotal) },
    rustVersion: `n/a (corral, node ${process.versions.node})`,
    version: versions.codecast,
    nodeVersion: process.version,
    corralVersion: versions.corral,
    pid: process.pid,
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / MB)
}
