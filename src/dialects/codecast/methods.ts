import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { z } from 'zod'
import type { Engine } from '../../core/api.ts'
import { CorralError } from '../../core/error.ts'
import { RawJson } from '../../transports/jsonrpc.ts'
import type { Bookmarks } from './bookmarks.ts'
import type { DialectLog } from '../dialect.ts'
import { requireDirectory } from './paths.ts'
import { replay } from './replay.ts'
import { syncSkills } from './skills.ts'
import type { Sender } from './stream.ts'
import { allSessions, healthView, queueView, sessionView, type Versions } from './views.ts'
import * as wire from './wire.ts'

export interface MethodDeps {
  engine: Engine
  bookmarks: Bookmarks
  sender: Sender
  log: DialectLog
  /** The user's home directory: `~`. */
  home: string
  startedAt: number
  versions: Versions
}

/** One call under way. */
export interface Call {
  res: ServerResponse
  /** To be done once the answer has left in full. */
  onDelivered(action: () => void): void
}

/** One operation as data. A streaming one answers on its own; the result of any other is the answer. */
export interface Method {
  name: string
  params: z.ZodType
  streaming: boolean
  handle(params: unknown, call: Call): unknown
}

/** Ties a handler to the schema of what it is given; the dispatcher validates before it calls. */
function method<S extends z.ZodType>(
  name: string,
  params: S,
  handle: (params: z.output<S>, call: Call) => unknown,
  streaming = false,
): Method {
  return { name, params, streaming, handle: (given, call) => handle(given as z.output<S>, call) }
}

/** The twelve methods. */
export function codecastMethods(deps: MethodDeps): Method[] {
  const { engine, bookmarks, sender } = deps
  const uptime = (): number => Math.floor((Date.now() - deps.startedAt) / 1000)

  return [
    method('session.create', wire.createParams, (params) => create(deps, params)),
    method('session.send', wire.sendParams, (params, call) => sender.send(params, call.res), true),
    method('session.resume', wire.resumeParams, async ({ sessionId, sdkSessionId }) => {
      const ok = await ifThere(async () => {
        const session = engine.sessions.get(sessionId)
        if (sdkSessionId !== null && sdkSessionId !== session.nativeId) {
          await engine.sessions.configure({ sessionId, nativeId: sdkSessionId })
        }
        bookmarks.welcome(sessionId)
      })
      return { ok, fallback: false }
    }),
    method('session.destroy', wire.sessionParams, async ({ sessionId }) => {
      const ok = await ifThere(() => engine.sessions.destroy(sessionId))
      if (ok) bookmarks.forget(sessionId)
      return { ok }
    }),
    method('session.list', wire.noParams, () => ({ sessions: allSessions(engine).map(sessionView) })),
    method('session.set_mode', wire.setModeParams, async ({ sessionId, mode }) => {
      await engine.sessions.configure({ sessionId, mode })
      return { ok: true }
    }),
    method('session.set_model', wire.setModelParams, async ({ sessionId, model }) => {
      await engine.sessions.configure({ sessionId, model })
      return { ok: true }
    }),
    method('session.interrupt', wire.sessionParams, async ({ sessionId }) => {
      const { interrupted } = await engine.turns.interrupt({ sessionId, clearQueue: true })
      return { ok: true, interrupted }
    }),
    method('session.queue_stats', wire.sessionParams, ({ sessionId }) =>
      queueView(engine, bookmarks, engine.sessions.get(sessionId)),
    ),
    method('session.reconnect', wire.reconnectParams, (params, call) => reconnect(deps, params, call)),
    method('health.check', wire.noParams, () => healthView(engine, uptime(), deps.versions)),
    method('monitor.sessions', wire.noParams, async () => {
      const sessions = await monitored(deps)
      return { sessions, totalSessions: sessions.length, uptime: uptime() }
    }),
  ]
}

/** Every session with its queue. Where much waits to be told it takes a moment to count, and others have their turn in between. */
async function monitored({ engine, bookmarks }: MethodDeps): Promise<object[]> {
  const views: object[] = []
  for (const session of allSessions(engine)) {
    const queue = queueView(engine, bookmarks, session)
    views.push({ ...sessionView(session), queue })
    if (queue.responsePending > 0) await setImmediate()
  }
  return views
}

async function create(deps: MethodDeps, params: wire.CreateParams): Promise<{ sessionId: string }> {
  const { engine, home, log } = deps
  const cwd = await requireDirectory(params.path, home)
  const { mode, model, title, key, cli_type: agent } = params
  const session = await engine.sessions.create({
    agent,
    cwd,
    mode,
    model,
    title,
    // Nothing in this protocol can answer one.
    settings: { questions: false },
    origin: 'codecast',
    ...(key === undefined ? {} : { key }),
  })
  await syncSkills({
    source: join(home, '.codecast', 'skills'),
    project: session.cwd,
    agent: session.agent,
    onProblem: (message, error) => log.warn({ sessionId: session.id, err: error }, message),
  })
  return { sessionId: session.id }
}

async function reconnect(
  { engine, bookmarks }: MethodDeps,
  { sessionId, after }: { sessionId: string; after?: number | undefined },
  call: Call,
): Promise<RawJson> {
  if (!(await ifThere(() => engine.sessions.get(sessionId)))) return new RawJson('{"bufferedEvents":[]}')
  // A connection that was reset just before this request is heard of first.
  for (let turns = 0; turns < 2; turns++) await setImmediate()
  const { lines, more, lastSeq, acknowledge } = replay(engine, bookmarks, sessionId, after)
  bookmarks.welcome(sessionId)
  call.onDelivered(acknowledge)
  const extra = (after === undefined ? '' : `,"lastSeq":${lastSeq}`) + (more ? ',"more":true' : '')
  return new RawJson(`{"bufferedEvents":[${lines.join(',')}]${extra}}`)
}

/** False when the session is not there; other errors pass. */
async function ifThere(action: () => unknown): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    if (error instanceof CorralError && error.code === 'session_not_found') return false
    throw error
  }
}
