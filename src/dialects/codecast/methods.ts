import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { CorralError } from '../../core/error.ts'
import { RawJson } from '../../transports/jsonrpc.ts'
import { type CodecastMethod, type Context, method, type Services } from './method.ts'
import { requireDirectory } from './paths.ts'
import { replay } from './replay.ts'
import { syncSkills } from './skills.ts'
import { allSessions, healthView, queueView, sessionView } from './views.ts'
import * as wire from './wire.ts'

const ok = z.boolean().describe('false: there is no such session')
const done = z.object({ ok: z.literal(true) })

/** The twelve methods. */
export const METHODS = [
  method({
    name: 'session.create',
    scope: 'use',
    repeat: 'keyed',
    errors: ['path_not_found', 'agent_unknown', 'agent_missing'],
    summary: 'Makes a session. Skills of `~/.codecast/skills` are copied into its directory.',
    params: wire.createParams,
    result: z.object({ sessionId: z.string() }),
    handler: create,
  }),
  method({
    name: 'session.send',
    scope: 'use',
    repeat: 'keyed',
    errors: [],
    summary: 'Sends a message. What goes wrong with it is told on the stream, too.',
    streaming: true,
    params: wire.sendParams,
    result: z.null(),
    async handler(params, { sender, res }) {
      await sender.send(params, res)
      return null
    },
  }),
  method({
    name: 'session.resume',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['unsupported', 'conversation_busy'],
    summary: "Says that the client is back; with `sdkSessionId`, which of the agent's conversations goes on.",
    params: wire.resumeParams,
    result: z.object({ ok, fallback: z.literal(false) }),
    async handler({ sessionId, sdkSessionId }, { engine, bookmarks }) {
      const ok = await ifThere(async () => {
        const session = engine.sessions.get(sessionId)
        if (sdkSessionId !== null && sdkSessionId !== session.nativeId) {
          await engine.sessions.configure({ sessionId, nativeId: sdkSessionId })
        }
        bookmarks.welcome(sessionId)
      })
      return { ok, fallback: false as const }
    },
  }),
  method({
    name: 'session.destroy',
    scope: 'use',
    repeat: 'idempotent',
    errors: [],
    summary: 'Removes a session. Answers when its process is gone, too.',
    params: wire.sessionParams,
    result: z.object({ ok }),
    async handler({ sessionId }, { engine, bookmarks }) {
      const ok = await ifThere(() => engine.sessions.destroy(sessionId))
      if (ok) bookmarks.forget(sessionId)
      return { ok }
    },
  }),
  method({
    name: 'session.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'All sessions, the newest first.',
    params: wire.noParams,
    result: z.object({ sessions: z.array(wire.session) }),
    handler: (_, { engine }) => ({ sessions: allSessions(engine).map(sessionView) }),
  }),
  method({
    name: 'session.set_mode',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'unsupported'],
    summary: 'What the agent may do without a question. It holds at once, also for what waits.',
    params: wire.setModeParams,
    result: done,
    handler: configure,
  }),
  method({
    name: 'session.set_model',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'unsupported'],
    summary: 'The model of the next messages.',
    params: wire.setModelParams,
    result: done,
    handler: configure,
  }),
  method({
    name: 'session.interrupt',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'Stops the running turn and empties the queue.',
    params: wire.sessionParams,
    result: done.extend({ interrupted: z.boolean().describe('false: no turn ran') }),
    async handler({ sessionId }, { engine }) {
      const { interrupted } = await engine.turns.interrupt({ sessionId, clearQueue: true })
      return { ok: true as const, interrupted }
    },
  }),
  method({
    name: 'session.queue_stats',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'What waits in a session: messages for the agent, and events for the client.',
    params: wire.sessionParams,
    result: wire.queue,
    handler: ({ sessionId }, { engine, bookmarks }) =>
      queueView(engine, bookmarks, engine.sessions.get(sessionId)),
  }),
  method({
    name: 'session.reconnect',
    scope: 'use',
    repeat: 'never',
    errors: [],
    summary:
      'What the client has missed. Once the answer was sent in full it is not returned again; with `after` it may be called again.',
    params: wire.reconnectParams,
    result: wire.missed,
    handler: reconnect,
  }),
  method({
    name: 'health.check',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Says that the daemon is there, how it is and which version it has.',
    params: wire.noParams,
    result: wire.health,
    handler: (_, context) => healthView(context.engine, uptimeOf(context), context.versions),
  }),
  method({
    name: 'monitor.sessions',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'All sessions with what waits in them.',
    params: wire.noParams,
    result: z.object({
      sessions: z.array(wire.monitored),
      totalSessions: z.number(),
      uptime: z.number().describe('seconds'),
    }),
    async handler(_, context) {
      const sessions = await monitored(context)
      return { sessions, totalSessions: sessions.length, uptime: uptimeOf(context) }
    },
  }),
] as unknown as readonly CodecastMethod[]

function uptimeOf({ startedAt }: Services): number {
  return Math.floor((Date.now() - startedAt) / 1000)
}

type Change = z.output<typeof wire.setModeParams> | z.output<typeof wire.setModelParams>

async function configure(change: Change, { engine }: Services): Promise<{ ok: true }> {
  await engine.sessions.configure(change)
  return { ok: true }
}

/** Every session with its queue. Where much waits to be told it takes a moment to count, and others have their turn in between. */
async function monitored({ engine, bookmarks }: Services): Promise<z.output<typeof wire.monitored>[]> {
  const views = []
  for (const session of allSessions(engine)) {
    const queue = queueView(engine, bookmarks, session)
    views.push({ ...sessionView(session), queue })
    if (queue.responsePending > 0) await setImmediate()
  }
  return views
}

async function create(params: wire.CreateParams, services: Services): Promise<{ sessionId: string }> {
  const { engine, home, log } = services
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
  { sessionId, after }: z.output<typeof wire.reconnectParams>,
  { engine, bookmarks, onDelivered }: Context,
): Promise<RawJson> {
  if (!(await ifThere(() => engine.sessions.get(sessionId)))) return new RawJson('{"bufferedEvents":[]}')
  // A connection that was reset just before this request is heard of first.
  for (let turns = 0; turns < 2; turns++) await setImmediate()
  const { lines, more, lastSeq, acknowledge } = replay(engine, bookmarks, sessionId, after)
  bookmarks.welcome(sessionId)
  onDelivered(acknowledge)
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
