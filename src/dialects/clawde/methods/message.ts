import { z } from 'zod'
import { messagesOf } from '../history.ts'
import { method, type Context } from '../method.ts'
import { userView } from '../views.ts'
import * as wire from '../wire.ts'

const sendParams = z.object({
  sessionId: wire.sessionId,
  content: z.string().min(1),
  queue: z
    .boolean()
    .default(false)
    .describe('while it is busy or paused: wait for the turns before, instead of -32002'),
  key: z.string().min(1).max(200).exactOptional().describe('the same twice is one message'),
})
const sendAliases = { ...wire.SESSION_ID, content: ['message', 'text', 'prompt'], key: ['idempotencyKey'] }

async function send(params: z.output<typeof sendParams>, { engine, metrics }: Context) {
  const { sessionId, content, queue, key } = params
  const command = {
    sessionId,
    input: [{ type: 'text' as const, text: content }],
    origin: 'clawde',
    busy: queue ? ('queue' as const) : ('refuse' as const),
    ...(key !== undefined && { key: `clawde ${key}` }),
  }
  const { turnId, position } = await engine.turns.send(command)
  metrics.count('messages_sent')
  const turn = engine.turns.get(turnId)
  const message = { id: turn.id, content: turn.input }
  const view = userView(sessionId, message, turn.startedAt ?? turn.queuedAt)
  return { ...view, queued: position > 0, position }
}

const historyParams = z.object({
  sessionId: wire.sessionId,
  limit: z.int().min(1).default(50).describe('200 at the most'),
  before: z.string().min(1).nullish().describe('the id of a message: those before it'),
})

async function history({ sessionId, limit, before }: z.output<typeof historyParams>, { engine }: Context) {
  engine.sessions.get(sessionId)
  const query = { sessionId, limit: Math.min(limit, 200), before: before ?? undefined }
  return messagesOf(engine, query)
}

const sent = wire.message.extend({
  queued: z.boolean(),
  position: z.number().describe('so many messages come before it; 0: its turn has begun'),
})

export const messageMethods = [
  method({
    name: 'session.sendMessage',
    scope: 'use',
    repeat: 'keyed',
    errors: ['sessionNotFound', 'providerNotAvailable', 'sessionPaused', 'rateLimited'],
    summary: 'Sends a message and answers with it at once; what the agent says comes in pushes.',
    changes: true,
    params: sendParams,
    aliases: sendAliases,
    result: sent,
    handler: send,
  }),
  method({
    name: 'session.send',
    scope: 'use',
    repeat: 'keyed',
    errors: ['sessionNotFound', 'providerNotAvailable', 'sessionPaused', 'rateLimited'],
    also: ['message.send'],
    summary: 'The same, for ClawDE’s command line and editor plugin: their pushes come along from now on.',
    changes: true,
    params: sendParams,
    aliases: sendAliases,
    result: sent,
    handler(params, context) {
      context.stream.withPieces()
      return send(params, context)
    },
  }),
  method({
    name: 'session.getMessages',
    scope: 'read',
    repeat: 'read',
    errors: ['sessionNotFound'],
    summary: 'The last messages, or those before one, the oldest first: an array.',
    heavy: true,
    params: historyParams,
    aliases: wire.SESSION_ID,
    result: z.array(wire.message),
    handler: history,
  }),
  method({
    name: 'session.messages',
    scope: 'read',
    repeat: 'read',
    errors: ['sessionNotFound'],
    summary: 'The same as an object, for ClawDE’s editor plugin.',
    heavy: true,
    params: historyParams,
    aliases: wire.SESSION_ID,
    result: z.object({ messages: z.array(wire.message) }),
    async handler(params, context) {
      const pieces = context.stream.withPieces()
      const messages = await history(params, context)
      for (const { id, status, content } of messages) if (status === 'streaming') pieces.has(id, content)
      return { messages }
    },
  }),
]
