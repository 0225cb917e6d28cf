import { z } from 'zod'
import { COMMAND_OUTPUTS, execute } from '../commands.ts'
import { method } from '../method.ts'
import { params, sessionId, text } from '../params.ts'

export const commandMethods = [
  method({
    name: 'command.execute',
    scope: 'manage',
    repeat: 'never',
    errors: [
      'session_not_found',
      'not_signed_in',
      'no_model',
      'compaction_failed',
      'conversation_busy',
      'queue_full',
      'unsupported',
      'agent_missing',
      'agent_unknown',
    ],
    summary: 'Runs what a user has typed if it begins with `/`. `/help` lists the commands.',
    params: params({ session_id: sessionId, raw_command: text }),
    result: z.union([
      z.strictObject({ handled: z.literal(false) }),
      z.strictObject({ handled: z.literal(true), output: z.union(COMMAND_OUTPUTS) }),
    ]),
    handler: ({ session_id, raw_command }, context) => execute(session_id, raw_command, context),
  }),
]
