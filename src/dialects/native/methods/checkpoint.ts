import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const { sessionId, turnId, time } = wire
const one = z.strictObject({ sessionId, turnId: turnId.describe('whose checkpoint; or the id of an `undo`') })

export const checkpointMethods = [
  method({
    name: 'checkpoint.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'The states of its files that a session can go back to, the newest first, 100 at the most: before each turn, and before each restoration. Only in a git repository; what is ignored, and untracked files of more than 20 MiB, are not in them.',
    params: z.strictObject({ sessionId }),
    result: z.object({
      checkpoints: z.array(
        z.object({
          turnId: turnId.describe('the turn that it was taken before; of an `undo`, an id of its own'),
          kind: z.enum(['turn', 'undo']),
          at: time,
          ref: z.string().describe('hidden, in the repository'),
          tree: z.string(),
          files: z.number().nullable().describe('how many files the turn has changed; null: not known'),
          left: z.array(z.string()).describe('files that are not in it, because they are too large, say'),
        }),
      ),
      reason: z.string().nullable().describe('why there are none'),
    }),
    handler: (params, { engine }) => engine.checkpoints.list(params.sessionId),
  }),
  method({
    name: 'checkpoint.preview',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'turn_not_found', 'repo_not_found', 'git_failed', 'unsupported'],
    summary: 'What `checkpoint.restore` would do, and what speaks against it.',
    params: one,
    result: z.object({
      files: z.array(wire.fileChange).describe('from what is there now to what would be there'),
      truncated: z.boolean(),
      conflicts: z
        .array(z.object({ path: z.string(), why: z.string() }))
        .describe('files that somebody else has changed since the last turn, or that are in the way'),
      canRestore: z.boolean(),
      reason: z.string().nullable().describe('why it cannot be restored, or what to know before'),
    }),
    handler: (params, { engine }) => engine.checkpoints.preview(params.sessionId, params.turnId),
  }),
  method({
    name: 'checkpoint.restore',
    scope: 'use',
    repeat: 'never',
    errors: [
      'session_not_found',
      'turn_not_found',
      'repo_not_found',
      'git_failed',
      'unsupported',
      'unsaved_work',
      'conversation_busy',
    ],
    summary:
      'Brings the files back to that state; commits, the index and ignored files stay as they are. What is there now is kept first, as `undo`. Refused with `unsaved_work` where it would change files that somebody else has changed since the last turn of the session, and with `conversation_busy` while a turn runs in the work tree.',
    params: one.extend({
      force: z.boolean().default(false).describe("also files that are somebody else's work"),
    }),
    result: z.object({
      restored: z.number().describe('files that were changed'),
      undo: z.object({ turnId: turnId.describe('restore this to undo it') }),
    }),
    handler: ({ turnId: id, ...params }, { engine }) => engine.checkpoints.restore({ id, ...params }),
  }),
]
