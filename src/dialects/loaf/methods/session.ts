import { z } from 'zod'
import { Streaming } from '../../../transports/jsonrpc.ts'
import { NOTHING } from '../choices.ts'
import { codeOf } from '../errors.ts'
import { imageInputs } from '../images.ts'
import { method, type Context } from '../method.ts'
import type { OpenSession } from '../open-session.ts'
import {
  optionalFlag,
  optionalNumber,
  optionalParams,
  optionalText,
  params,
  sessionId,
  text,
} from '../params.ts'
import { replay } from '../saved.ts'
import { send, settle } from '../sending.ts'
import { stateChanged } from '../snapshot.ts'
import * as wire from '../wire.ts'

const REPLAY_PAGE = 500
/** Longer titles are cut: no title is a reason not to begin. */
const TITLE_LIMIT = 500

const one = params({ session_id: sessionId })

async function steer(session: OpenSession, message: string, { corral, newId }: Context) {
  const answer = (accepted: boolean) => ({ session_id: session.id, accepted })
  if (session.agent === null) return answer(false)
  try {
    await corral.steer(session.id, [{ type: 'text', text: message }], newId())
    return answer(true)
  } catch (error) {
    if (codeOf(error) === 'not_running') return answer(false)
    if (codeOf(error) !== 'unsupported') throw error
    const reason = (error as Error).message
    session.say(session.conversation.remark(`${reason}; queue the message instead (enqueue).`))
    return { ...answer(false), reason }
  }
}

async function interrupt(session: OpenSession, { corral }: Context) {
  const answer = (interrupted: boolean) => ({ session_id: session.id, interrupted })
  if (session.agent === null) return answer(false)
  const pause = session.pauseAt((event) => event.type === 'turn.interrupting')
  try {
    const interrupted = await corral.interrupt(session.id, false)
    if (interrupted) await pause.reached
    return new Streaming(answer(interrupted), pause.release)
  } catch (error) {
    pause.release()
    throw error
  }
}

async function clearQueue(session: OpenSession, { corral }: Context): Promise<number> {
  const waiting = [...session.conversation.queue]
  const gone = await Promise.all(waiting.map(({ id }) => corral.unqueue(session.id, id)))
  return gone.filter(Boolean).length
}

export const sessionMethods = [
  method({
    name: 'session.create',
    scope: 'use',
    repeat: 'never',
    errors: ['path_not_found', 'agent_unknown', 'unsupported'],
    summary:
      'Opens a new session on the agent of the chosen model. If none is chosen, the first message starts it.',
    params: optionalParams({ title: optionalText.describe(`up to ${TITLE_LIMIT} characters`) }),
    result: z.strictObject({ session_id: z.string(), state: wire.sessionState }),
    async handler({ title }, context) {
      const session = context.sessions.create(title?.slice(0, TITLE_LIMIT) ?? null)
      try {
        if (context.choices.selected() !== NOTHING) await settle(session, context)
      } catch (error) {
        // What is missing may be there, or another model chosen, when the first message comes.
        if (codeOf(error) !== 'agent_missing') {
          session.close()
          throw error
        }
      }
      await stateChanged(context, 'session_created', session.id)
      return { session_id: session.id, state: session.conversation.state(session.createdAt) }
    },
  }),
  method({
    name: 'session.get',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'Returns a session as a window shows it. From then on its events are sent, even if it was not open before.',
    params: one,
    result: wire.sessionState,
    async handler({ session_id }, { sessions }) {
      const session = await sessions.find(session_id)
      return session.conversation.state(session.createdAt)
    },
  }),
  method({
    name: 'session.send',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'busy', 'queue_full', 'unsupported', 'agent_missing', 'agent_unknown'],
    summary:
      'Sends a message. A bad image or a missing model does not fail the request: it is accepted, and `session.error` follows.',
    params: params({
      session_id: sessionId,
      text: optionalText.describe('needed unless there are images'),
      enqueue: optionalFlag.describe('wait if a turn is running; otherwise the message is refused then'),
      images: z
        .unknown()
        .optional()
        .describe('a list of `{path}` or `{data_url}`, with `mime_type` if the name does not say it')
        .transform(imageInputs),
    }),
    result: z.strictObject({
      session_id: z.string(),
      turn_id: z.string(),
      accepted: z.literal(true),
      queued: z.boolean(),
    }),
    handler({ session_id, text: said = '', enqueue = false, images }, context) {
      const prompt = { text: said, enqueue, images }
      return context.sessions.inTurn(session_id, (session) => send(session, prompt, context))
    },
  }),
  method({
    name: 'session.steer',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'queue_full', 'turn_not_found'],
    summary:
      'Sends a message to the running turn. It is not accepted if no turn is running or the agent cannot be steered.',
    params: params({ session_id: sessionId, text }),
    result: z.strictObject({
      session_id: z.string(),
      accepted: z.boolean(),
      reason: z.string().exactOptional().describe('why the agent cannot be steered'),
    }),
    handler: ({ session_id, text: said }, context) =>
      context.sessions.inTurn(session_id, (session) => steer(session, said, context)),
  }),
  method({
    name: 'session.interrupt',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'Stops the running turn. Waiting messages stay, and the next one begins.',
    params: one,
    result: z.strictObject({ session_id: z.string(), interrupted: z.boolean() }),
    handler: ({ session_id }, context) =>
      context.sessions.inTurn(session_id, (session) => interrupt(session, context)),
  }),
  method({
    name: 'session.queue.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'Lists the waiting messages. The `id` of each is its `turn_id`.',
    params: one,
    result: z.strictObject({ session_id: z.string(), queue: z.array(wire.queuedPrompt) }),
    async handler({ session_id }, { sessions }) {
      const { id, conversation } = await sessions.find(session_id)
      return { session_id: id, queue: [...conversation.queue] }
    },
  }),
  method({
    name: 'session.queue.clear',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'Withdraws all waiting messages.',
    params: one,
    result: z.strictObject({ session_id: z.string(), cleared_count: z.number() }),
    async handler({ session_id }, context) {
      const cleared = await context.sessions.inTurn(session_id, (session) => clearQueue(session, context))
      return { session_id, cleared_count: cleared }
    },
  }),
  method({
    name: 'session.list',
    extension: true,
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Lists all sessions of the daemon, the most recently active first. Not in the original.',
    params: optionalParams({ cursor: optionalText.describe('the `next_cursor` of the page before') }),
    result: z.strictObject({
      sessions: z.array(
        z.strictObject({
          id: z.string(),
          title: z.string().nullable(),
          agent: z.string(),
          model: z.string().nullable(),
          cwd: z.string(),
          updatedAt: z.string(),
          pending: z.boolean(),
          open: z.boolean().describe('its events are sent to this client'),
        }),
      ),
      next_cursor: z.string().nullable(),
    }),
    async handler({ cursor = null }, { corral, sessions: { all } }) {
      const { sessions, next } = await corral.sessions(cursor)
      const open = new Set(all.map(({ id }) => id))
      return {
        sessions: sessions.map(({ id, agent, cwd, title, modelInUse: model, activeAt, turn }) => {
          const updatedAt = new Date(activeAt).toISOString()
          return { id, title, agent, model, cwd, updatedAt, pending: turn !== null, open: open.has(id) }
        }),
        next_cursor: next,
      }
    },
  }),
  method({
    name: 'events.replay',
    extension: true,
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'cursor_reset'],
    summary:
      'Returns past events of one session, or of every session that is open here, as far as the log still has them. Messages come whole, without their pieces. Not in the original.',
    params: optionalParams({
      after: optionalNumber.describe('the last `seq` that you have; 0 if not given'),
      limit: optionalNumber.describe(`for each session; ${REPLAY_PAGE} if not given`),
      session_id: optionalText,
    }),
    result: z.union([wire.replayed, z.strictObject({ sessions: z.array(wire.replayed) })]),
    async handler({ session_id: id, after = 0, limit: wanted = REPLAY_PAGE }, context) {
      const limit = Math.max(1, Math.trunc(wanted))
      if (id !== undefined) {
        const { agent } = await context.sessions.find(id)
        return agent === null ? { session_id: id, events: [], next: null } : replay(context, id, after, limit)
      }
      const settled = context.sessions.all.filter(({ agent }) => agent !== null)
      return { sessions: await Promise.all(settled.map((one) => replay(context, one.id, after, limit))) }
    },
  }),
]
