import { z } from 'zod'
import { method, type Context } from '../method.ts'
import * as wire from '../wire.ts'

const { sessionId, time } = wire
const path = z.string().max(4096).describe("below the session's directory")

function directoryOf({ engine }: Context, id: string): string {
  return engine.sessions.get(id).cwd
}

export const fileMethods = [
  method({
    name: 'files.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'path_not_found'],
    summary:
      "What is in a directory of a session: folders first, then by name, 2,000 at the most. A path that leads through a link or out of the session's directory is refused (`invalid`).",
    params: z.strictObject({ sessionId, path: path.default('').describe('empty: the directory itself') }),
    result: z.object({
      path: z.string(),
      entries: z.array(
        z.object({
          name: z.string(),
          kind: z.enum(['file', 'directory', 'link', 'other']),
          size: z.number().nullable().describe('in bytes, of files'),
          modifiedAt: time,
        }),
      ),
      truncated: z.boolean(),
    }),
    async handler(params, context) {
      const { entries, ...found } = await context.workspace.listDirectory(
        directoryOf(context, params.sessionId),
        params.path,
      )
      return { ...found, entries: [...entries] }
    },
  }),
  method({
    name: 'files.read',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'path_not_found'],
    summary:
      'A file of a session: a piece of a text, or a whole image (PNG, JPEG, GIF, WebP) of up to 5 MiB. The next piece begins at `offset` and as many bytes further as `text` has in UTF-8. Links are refused as in `files.list`.',
    params: z.strictObject({
      sessionId,
      path: path.min(1),
      offset: z.int().min(0).default(0).describe('in bytes'),
      limit: z
        .int()
        .min(4)
        .max(1024 * 1024)
        .default(1024 * 1024)
        .describe('in bytes'),
    }),
    result: z.object({
      path: z.string(),
      text: z.string().nullable().describe('null: it is no text'),
      base64: z.string().nullable().describe('of an image'),
      mediaType: z.string().nullable().describe('of an image, by its first bytes'),
      size: z.number(),
      truncated: z.boolean().describe('there is more behind it; or the image is too large'),
      modifiedAt: time,
    }),
    handler: ({ sessionId: id, path: file, ...piece }, context) =>
      context.workspace.readPiece(directoryOf(context, id), file, piece),
  }),
  method({
    name: 'files.find',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'path_not_found', 'git_failed'],
    summary:
      'Files of a session whose path has these letters in this order, the best first: what git tracks or does not ignore, or without a repository what a short walk finds.',
    params: z.strictObject({
      sessionId,
      query: z.string().max(500),
      limit: z.int().min(1).max(100).default(20),
    }),
    result: z.object({
      files: z.array(z.object({ path: z.string(), score: z.number() })),
      truncated: z.boolean().describe('there are more'),
    }),
    async handler({ sessionId: id, query, limit }, context) {
      const found = await context.workspace.findFiles(directoryOf(context, id), query, limit)
      return { files: [...found.files], truncated: found.truncated }
    },
  }),
]
