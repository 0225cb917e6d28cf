import { z } from 'zod'
import { WHEN_BUSY } from '../../../core/command.ts'
import type { Content } from '../../../core/content.ts'
import type { Defaults } from '../../../core/defaults.ts'
import { CorralError } from '../../../core/error.ts'
import { EXPORT_FORMATS } from '../../../core/export/export.ts'
import { uuid } from '../../../core/ids.ts'
import { createInWorktree, leaveWorktree } from '../../../core/own-worktree.ts'
import { mustBeRules, NO_RULES } from '../../../core/rule.ts'
import { decodePage, encodePage } from '../../../core/page.ts'
import { method, type Context } from '../method.ts'
import { viewSession, viewTurn } from '../views.ts'
import type { SessionView } from '../wire.ts'
import * as wire from '../wire.ts'

const { sessionId, turnId } = wire
const ORIGIN = 'native'
const one = z.strictObject({ sessionId })

export const sent = z.object({
  turnId,
  position: z.number().describe('0: running now; n: n messages are before it'),
  seq: z.number().describe('of its `turn.queued` or `turn.steered`: follow the turn from just before here'),
  repeated: z.boolean().describe('the key was known; nothing new happened'),
  steered: turnId
    .exactOptional()
    .describe('the turn that it was brought to; if that ends without it, it becomes the turn `turnId`'),
  log: z.string(),
})

const busy = z
  .enum(WHEN_BUSY)
  .default('queue')
  .describe(
    'while the session is busy or paused: wait, be refused with `conversation_busy`, go to the turn that runs (`unsupported` where the agent cannot be steered), or stop that turn and be the next',
  )
const compactBusy = z.enum(['queue', 'refuse', 'interrupt']).default('queue').describe('as in `session.send`')

const SENDING_ERRORS = [
  'session_not_found',
  'queue_full',
  'unsupported',
  'agent_missing',
  'agent_unknown',
  'conversation_busy',
] as const

export function contentOf(message: string | Content[]): Content[] {
  return typeof message === 'string' ? [{ type: 'text', text: message }] : message
}

export const sessionMethods = [
  method({
    name: 'session.create',
    scope: 'use',
    repeat: 'keyed',
    errors: [
      'path_not_found',
      'agent_unknown',
      'agent_missing',
      'unsupported',
      'conversation_busy',
      'repo_not_found',
      'git_failed',
      'machine_not_found',
    ],
    summary: 'Makes a session. No process is started before the first message.',
    params: wire.createParams,
    result: wire.sessionView,
    async handler({ machine, ...given }, context) {
      if (machine !== undefined) return createElsewhere(machine, given, context)
      const { worktree, carry, branch, about, ...params } = given
      const command = { origin: ORIGIN, ...params }
      mustBeRules(params.rules, NO_RULES)
      if (!worktree && branch !== undefined)
        throw new CorralError('invalid', 'branch: only for a session in a worktree', { field: 'branch' })
      if (!worktree) return viewSession(await context.engine.sessions.create(command))
      const { engine, workspace, daemon } = context
      const made = await createInWorktree(
        { create: engine.sessions.create, workspace, daemonId: daemon.id },
        command,
        { carry, branch, about: params.title ?? about },
      )
      return viewSession(made.session)
    },
  }),
  method({
    name: 'session.defaults',
    scope: 'read',
    repeat: 'read',
    errors: ['agent_unknown', 'machine_not_found'],
    summary:
      'The agent and the mode that `corral new` and the dashboard begin with (settings `defaults.agent`, `defaults.mode`). `session.create` does not look at them.',
    params: z.strictObject({ machine: wire.machine.exactOptional() }),
    result: z.object({
      agent: z.string(),
      chosen: z
        .enum(['set', 'found', 'demo'])
        .describe('`found`: it is installed here; `demo`: no other agent is'),
      mode: wire.mode,
    }),
    handler: async ({ machine }, { daemon, machines }) =>
      machine === undefined
        ? daemon.defaults()
        : ((await machines.call(machine, 'session.defaults', {})) as Defaults),
  }),
  method({
    name: 'session.get',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'One session.',
    params: one,
    result: wire.sessionView,
    handler: (params, { engine }) => viewSession(engine.sessions.get(params.sessionId)),
  }),
  method({
    name: 'session.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Sessions, the most recently active first, a page at a time.',
    params: z.strictObject({
      limit: z.int().min(1).max(500).default(50),
      cursor: z.string().min(1).exactOptional().describe('`next` of the page before'),
      agent: z.string().min(1).exactOptional(),
      includeDestroyed: z.boolean().default(false),
      archived: z.boolean().exactOptional().describe('only those that are archived, or are not'),
      leaves: z.boolean().exactOptional().describe('only those that nothing branches off'),
    }),
    result: z.object({ sessions: z.array(wire.sessionView), next: z.string().nullable() }),
    handler({ cursor, ...query }, { engine }) {
      const before = cursor === undefined ? null : decodePage(cursor)
      if (cursor !== undefined && !before) {
        throw new CorralError('invalid', 'cursor is not one that session.list gave out', { field: 'cursor' })
      }
      const found = engine.sessions.list({ ...query, before, limit: query.limit + 1 })
      const page = found.slice(0, query.limit)
      const last = page.at(-1)
      return {
        sessions: page.map((session) => viewSession(session)),
        next: last && found.length > page.length ? encodePage(last) : null,
      }
    },
  }),
  method({
    name: 'session.configure',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'unsupported', 'conversation_busy'],
    summary:
      'Changes mode, model, effort, title, rules, whether it is archived, or the conversation that goes on. A running agent is told.',
    params: wire.configureParams,
    result: wire.sessionView,
    async handler(params, { engine }) {
      mustBeRules(params.rules, engine.sessions.get(params.sessionId).rules)
      return viewSession(await engine.sessions.configure(params))
    },
  }),
  method({
    name: 'session.fork',
    scope: 'use',
    repeat: 'keyed',
    errors: [
      'session_not_found',
      'turn_not_found',
      'unsupported',
      'conversation_busy',
      'path_not_found',
      'agent_unknown',
      'agent_missing',
      'repo_not_found',
      'git_failed',
    ],
    summary:
      'A new session that branches off the conversation, as it is now or after one of its turns. With `turnId` it works for every agent: one that cannot branch off there itself is told what was said up to there, once, before its first message. `history.read` shows the conversation up to that point, and then the new one.',
    params: z.strictObject({
      sessionId,
      turnId: turnId
        .exactOptional()
        .describe(
          'after this turn of the conversation, which is over: of the session, or of one that it branched off',
        ),
      title: z.string().max(500).nullable().exactOptional(),
      model: z.string().min(1).max(200).nullable().exactOptional(),
      effort: wire.wantedEffort.exactOptional(),
      settings: wire.settings.exactOptional().describe('instead of those of the session it branches off'),
      key: wire.key.exactOptional(),
      origin: wire.origin.exactOptional(),
    }),
    result: wire.sessionView,
    handler: async (params, { engine }) =>
      viewSession(await engine.sessions.fork({ origin: ORIGIN, ...params })),
  }),
  method({
    name: 'session.pause',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'unsupported'],
    summary: 'Holds the session: its process stands still, queued messages wait.',
    params: one,
    result: wire.sessionView,
    handler: async (params, { engine }) => viewSession(await engine.sessions.pause(params.sessionId)),
  }),
  method({
    name: 'session.resume',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'unsupported'],
    summary: 'Ends a pause.',
    params: one,
    result: wire.sessionView,
    handler: async (params, { engine }) => viewSession(await engine.sessions.resume(params.sessionId)),
  }),
  method({
    name: 'session.interrupt',
    scope: 'use',
    repeat: 'aimed',
    errors: ['session_not_found'],
    summary:
      'Stops the running turn. Answers once that is decided; `turn.interrupted` tells when it has happened.',
    params: z.strictObject({
      sessionId,
      turnId: z
        .string()
        .exactOptional()
        .describe('only this one, out of the queue if it has not begun; what has begun meanwhile goes on'),
      clearQueue: z.boolean().default(false),
    }),
    result: z.object({
      interrupted: z.boolean().describe('a turn was running'),
      cancelled: z.array(z.string()).describe('turns that were taken out of the queue'),
    }),
    handler: (params, { engine }) => engine.turns.interrupt(params),
  }),
  method({
    name: 'session.destroy',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'unsaved_work', 'git_failed'],
    summary:
      'Removes the session. Answers when its process is gone too. A worktree of its own goes, unless work in it would be lost.',
    params: one,
    result: z.object({
      sessionId,
      worktree: z
        .object({ fate: z.enum(['removed', 'kept', 'left']), path: z.string() })
        .nullable()
        .describe('`kept`: there is work in it that is nowhere else; `left`: it could not be removed'),
    }),
    async handler(params, { engine, workspace }) {
      const session = engine.sessions.get(params.sessionId)
      await engine.sessions.destroy(session.id)
      return { sessionId: session.id, worktree: await leaveWorktree(workspace, session) }
    },
  }),
  method({
    name: 'session.export',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'The session as a document, a page at a time: the texts of all pages, one after the other. `json` has the session and every event of it but drafts, `markdown` is for people.',
    params: z.strictObject({
      sessionId,
      format: z.enum(EXPORT_FORMATS).default('json'),
      cursor: z.string().min(1).exactOptional().describe('`next` of the page before'),
    }),
    result: z.object({ text: z.string(), next: z.string().nullable() }),
    handler: (params, { engine }) => engine.sessions.exportPage(params),
  }),
  method({
    name: 'session.send',
    scope: 'use',
    repeat: 'keyed',
    errors: SENDING_ERRORS,
    summary:
      "Sends the user's message: a new turn, which runs at once or, unless `busy` says otherwise, waits in the queue. Answers after the commit.",
    params: z.strictObject({
      sessionId,
      content: wire.message,
      busy,
      key: wire.key.exactOptional(),
      origin: wire.origin.exactOptional(),
    }),
    result: sent,
    async handler({ content, ...params }, { engine }) {
      return {
        ...(await engine.turns.send({ origin: ORIGIN, ...params, input: contentOf(content) })),
        log: engine.events.logId,
      }
    },
  }),
  method({
    name: 'session.compact',
    scope: 'use',
    repeat: 'keyed',
    errors: SENDING_ERRORS,
    summary:
      'Has the agent sum up its conversation, to make room: a turn like any other, with the message `/compact`. Answers after the commit; `agent.compacting` and `agent.compacted` tell what comes of it. `unsupported` when the agent cannot do it on request.',
    params: z.strictObject({
      sessionId,
      busy: compactBusy,
      key: wire.key.exactOptional(),
      origin: wire.origin.exactOptional(),
    }),
    result: sent,
    async handler(params, { engine }) {
      return { ...(await engine.turns.compact({ origin: ORIGIN, ...params })), log: engine.events.logId }
    },
  }),
  method({
    name: 'session.steer',
    scope: 'use',
    repeat: 'keyed',
    errors: ['session_not_found', 'not_running', 'queue_full', 'unsupported', 'turn_not_found'],
    summary:
      'Brings a message to the turn that runs. Answers after the commit; `turn.steer_accepted` tells that the agent has taken it. If the turn ends before, the message becomes the next turn, with `steerId` as its id. `not_running` when there is no turn; `unsupported` when the agent cannot be steered.',
    params: z.strictObject({
      sessionId,
      content: wire.message,
      key: wire.key.exactOptional(),
      origin: wire.origin.exactOptional(),
    }),
    result: z.object({
      steerId: z.string(),
      turnId: turnId.describe('the turn that runs'),
      seq: z.number().describe('of its `turn.steered`'),
      repeated: z.boolean().describe('the key was known; nothing new happened'),
      log: z.string(),
    }),
    async handler({ content, ...params }, { engine }) {
      const steered = await engine.turns.steer({ origin: ORIGIN, ...params, input: contentOf(content) })
      return { ...steered, log: engine.events.logId }
    },
  }),
]

/** The directory, the agent and all else are those of that machine. */
async function createElsewhere(
  machine: string,
  params: Omit<z.output<typeof wire.createParams>, 'machine'>,
  { engine, machines }: Context,
): Promise<SessionView> {
  const command = { key: uuid(), ...params }
  const { id } = (await machines.call(machine, 'session.create', command)) as { id: string }
  return viewSession(engine.sessions.get(id))
}

export const turnMethods = [
  method({
    name: 'turn.get',
    scope: 'read',
    repeat: 'read',
    errors: ['turn_not_found'],
    summary: 'One turn.',
    params: z.strictObject({ turnId }),
    result: wire.turnView,
    handler: (params, { engine }) => viewTurn(engine.turns.get(params.turnId)),
  }),
  method({
    name: 'turn.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'The turns of a session, the newest first.',
    params: z.strictObject({ sessionId, limit: z.int().min(1).max(500).default(50) }),
    result: z.object({ turns: z.array(wire.turnView) }),
    handler: (params, { engine }) => ({
      turns: engine.turns.list(params.sessionId, params.limit).map(viewTurn),
    }),
  }),
]
