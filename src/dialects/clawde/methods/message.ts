import { z } from 'zod'
import type { Sent } from '../../../core/command.ts'
import { ClawdeError } from '../errors.ts'
import { messagesOf } from '../history.ts'
import { method, type Context } from '../method.ts'
import { userView } from '../views.ts'
import * as wire from '../wire.ts'
import { mustBeFree } from './session.ts'

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

/** Two that come at the same time are two turns to the engine; here the second one is told that it comes too late. */
async function send(params: z.output<typeof sendParams>, context: Context) {
  const { engine, sending, metrics } = context
  const { sessionId, content, queue, key } = params
  const session = engine.session(sessionId)
  const repeats = key !== undefined && sent(context, sessionId, key)
  if (!queue && !repeats) mustBeFree(session, sending)
  sending.add(sessionId)
  let result: Sent
  try {
    result = await engine.send({
      sessionId,
      input: [{ type: 'text', text: content }],
      origin: 'clawde',
      ...(key !== undefined && { key: keyOf(key) }),
    })
  } finally {
    sending.delete(sessionId)
  }
  if (!queue && !result.repeated && result.position > 0) await takeBack(context, sessionId, result.turnId)
  metrics.count('messages_sent')
  const turn = engine.turn(result.turnId)
  const message = { id: turn.id, content: turn.input }
  const view = userView(sessionId, message, turn.startedAt ?? turn.queuedAt)
  return { ...view, queued: result.position > 0, position: result.position }
}

function keyOf(key: string): string {
  return `clawde ${key}`
}

function sent({ engine }: Context, sessionId: string, key: string): boolean {
  return engine.turns(sessionId, 100).some((turn) => turn.key === keyOf(key))
}

/** Somebody who speaks another protocol was faster. */
async function takeBack({ engine }: Context, sessionId: string, turnId: string): Promise<void> {
  try {
    await engine.cancelTurn(sessionId, turnId)
  } catch {
    return // it has begun meanwhile, which is what was wanted
  }
  throw new ClawdeError('providerNotAvailable', 'The session is busy: a turn is in progress', {
    reason: 'busy',
  })
}

const historyParams = z.object({
  sessionId: wire.sessionId,
  limit: z.int().min(1).default(50).describe('200 at the most'),
  before: z.string().min(1).nullish().describe('the id of a message: those before it'),
})

async function history({ sessionId, limit, before }: z.output<typeof historyParams>, { engine }: Context) {
  engine.session(sessionId)
  const query = { sessionId, limit: Math.min(limit, 200), before: before ?? undefined }
  return messagesOf(engine, query)
}

export const messageMethods = [
  method({
    name: 'session.sendMessage',
    summary: 'Sends a message and answers with it at once; what the agent says comes in pushes.',
    changes: true,
    params: sendParams,
    aliases: sendAliases,
    result: wire.message,
    handler: send,
  }),
  method({
    name: 'session.send',
    also: ['message.send'],
    summary: 'The same, for ClawDE’s command line and editor plugin: their pushes come along from now on.',
    changes: true,
    params: sendParams,
    aliases: sendAliases,
    result: wire.message,
    handler(params, context) {
      context.stream.withPieces()
      return send(params, context)
    },
  }),
  method({
    name: 'session.getMessages',
    summary: 'The last messages, or those before one, the oldest first: an array.',
    heavy: true,
    params: historyParams,
    aliases: wire.SESSION_ID,
    result: z.array(wire.message),
    handler: history,
  }),
  method({
    name: 'session.messages',
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
