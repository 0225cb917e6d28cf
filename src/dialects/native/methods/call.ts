import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

export const callMethods = [
  method({
    name: 'call.answer',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'call_not_found'],
    summary: 'Brings the result of a tool of yours that the agent waits for (`call.held`).',
    params: z.strictObject({
      sessionId: wire.sessionId,
      callId: wire.id,
      result: wire.message.describe('a text, or pieces of text and images (base64)'),
      isError: z.boolean().default(false),
    }),
    result: z.object({ answered: z.literal(true) }),
    async handler({ sessionId, callId, result, isError }, { engine }) {
      const content = typeof result === 'string' ? [{ type: 'text' as const, text: result }] : result
      await engine.turns.answerCall({ sessionId, callId, result: { content, isError } })
      return { answered: true as const }
    },
  }),
]
