import { z } from 'zod'
import { ClawdeError } from '../errors.ts'
import { absolutePath } from '../launch.ts'
import { method, type Context } from '../method.ts'
import { repoView } from '../repos.ts'
import { bothWays } from '../spelling.ts'
import * as wire from '../wire.ts'

const place = {
  repoPath: z.string().min(1).exactOptional().describe('absolute path of the repository'),
  path: z.string().min(1).exactOptional().describe('the same; beside `repoPath`, the file'),
}
const repo = z.object(place)
const FORMAT = z.enum(['text', 'structured']).default('text').describe('`structured`: files with their hunks')

/** With a file beside it, or alone, `path` is the repository; beside `repoPath` it is the file. */
function placeOf(
  given: { repoPath?: string; path?: string; file?: string },
  { home }: Context,
): { root: string; file: string | undefined } {
  const { repoPath, path } = given
  const root = repoPath ?? path
  if (root === undefined) throw new ClawdeError('invalidParams', 'path: is missing', { field: 'path' })
  const file = given.file ?? (repoPath === undefined ? undefined : path)
  return { root: absolutePath(root, home, repoPath === undefined ? 'path' : 'repoPath'), file }
}

function fileOf(file: string | undefined): string {
  if (file !== undefined) return file
  throw new ClawdeError('invalidParams', 'file: is missing', { field: 'file' })
}

export const repoMethods = [
  method({
    name: 'repo.open',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['repoNotFound'],
    summary:
      'Opens a git repository, answers its status and watches it: `repo.statusChanged` tells what changes.',
    changes: true,
    params: repo,
    result: wire.repoStatus,
    async handler(params, context) {
      return repoView(await context.workspace.open(placeOf(params, context).root))
    },
  }),
  method({
    name: 'repo.close',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['repoNotFound'],
    summary: 'Stops watching a repository.',
    params: repo,
    result: z.object({ closed: z.boolean() }),
    async handler(params, context) {
      const { root } = placeOf(params, context)
      if (await context.workspace.close(root)) return { closed: true }
      throw new ClawdeError('repoNotFound', `${root} is not open`, { reason: 'not_open', path: root })
    },
  }),
  method({
    name: 'repo.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The repositories that are open.',
    params: wire.nothing,
    result: z.array(wire.repoStatus),
    handler: (_, { workspace }) => workspace.watched().map(({ status }) => repoView(status)),
  }),
  method({
    name: 'repo.status',
    scope: 'read',
    repeat: 'read',
    errors: ['repoNotFound'],
    summary: 'The status of a repository, open or not.',
    params: repo,
    result: wire.repoStatus,
    async handler(params, context) {
      return repoView(await context.workspace.status(placeOf(params, context).root))
    },
  }),
  method({
    name: 'repo.diff',
    scope: 'read',
    repeat: 'read',
    errors: ['repoNotFound'],
    summary: 'What has changed since the last commit, without files that are new to git: a text.',
    heavy: true,
    params: repo.extend({
      staged: z.boolean().default(false).describe('only what is staged'),
      format: FORMAT,
    }),
    result: z.union([z.string(), z.array(wire.fileDiff)]),
    async handler({ staged, format, ...params }, context) {
      const { root } = placeOf(params, context)
      const { text } = await context.workspace.diff(root, { staged })
      return format === 'text' ? text : context.workspace.structured(text)
    },
  }),
  method({
    name: 'repo.fileDiff',
    scope: 'read',
    repeat: 'read',
    errors: ['repoNotFound'],
    summary: 'The same of one file, also of a new one; empty if nothing has changed.',
    heavy: true,
    params: repo.extend({
      file: z.string().min(1).exactOptional().describe('below the repository'),
      staged: z.boolean().default(false),
      format: FORMAT,
    }),
    result: z.union([z.string(), wire.fileDiff.nullable()]),
    async handler({ staged, format, ...params }, context) {
      const { root, file } = placeOf(params, context)
      const { text } = await context.workspace.diff(root, { staged, file: fileOf(file) })
      return format === 'text' ? text : (context.workspace.structured(text)[0] ?? null)
    },
  }),
  method({
    name: 'repo.tree',
    scope: 'read',
    repeat: 'read',
    errors: ['repoNotFound'],
    summary: 'The files of a repository, without ignored ones.',
    heavy: true,
    params: repo,
    result: z.object({ repoPath: z.string(), files: z.array(z.string()), truncated: z.boolean() }),
    async handler(params, context) {
      const { root, files, truncated } = await context.workspace.files(placeOf(params, context).root)
      return bothWays({ repoPath: root, files, truncated })
    },
  }),
  method({
    name: 'repo.readFile',
    scope: 'read',
    repeat: 'read',
    errors: ['repoNotFound'],
    summary: 'A text file of a repository, up to 1 MiB.',
    heavy: true,
    params: repo.extend({ file: z.string().min(1).exactOptional().describe('below the repository') }),
    result: z.object({ repoPath: z.string(), path: z.string(), content: z.string(), sizeBytes: z.number() }),
    async handler(params, context) {
      const { root: given, file } = placeOf(params, context)
      const { root, content, sizeBytes } = await context.workspace.readFile(given, fileOf(file))
      return bothWays({ repoPath: root, path: fileOf(file), content, sizeBytes })
    },
  }),
]
