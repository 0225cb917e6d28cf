import { z } from 'zod'
import type { ProviderReport } from '../ports.ts'
import { bothWays } from './spelling.ts'
import { MODES, STATUSES } from './status.ts'

/*
 * The shapes of this protocol. Answers carry every field in both spellings; here they stand in one.
 */

export const nothing = z.looseObject({})
export const sessionId = z.string().min(1).describe('of the session')
export const SESSION_ID = { sessionId: ['id', 'session'] } as const

export const moment = z.union([z.number(), z.string()]).describe('seconds, or ISO 8601')

export const daemonStatus = z.object({
  version: z.string(),
  uptime: z.number(),
  uptimeSecs: z.number(),
  activeSessions: z.number(),
  totalSessions: z.number(),
  watchedRepos: z.number(),
  port: z.number(),
  daemonId: z.string(),
  pendingUpdate: z.string().nullable(),
  recoveryMode: z.boolean(),
  log: z.object({ id: z.string(), head: z.number(), oldest: z.number() }),
})

export const provider = z.object({
  provider: z.string(),
  available: z.boolean(),
  installed: z.boolean(),
  authenticated: z.boolean(),
  authenticationKnown: z.boolean(),
  version: z.string().nullable(),
  path: z.string().nullable(),
  error: z.string().nullable(),
})

export function providerView(report: ProviderReport) {
  const { name, installed, signedIn, version, path, problem } = report
  const error = installed
    ? signedIn === false
      ? 'nobody has signed in'
      : null
    : (problem ?? `${name} not found on PATH`)
  return bothWays({
    provider: name,
    available: installed,
    installed,
    // Where it cannot be told, the agent itself will say.
    authenticated: installed && signedIn !== false,
    authenticationKnown: signedIn !== null,
    version,
    path,
    error,
  })
}

export function unknownProvider(name: string, error: string) {
  const absent = { installed: false, signedIn: false, version: null, path: null }
  return { ...providerView({ name, title: name, problem: error, ...absent }), error }
}

export const check = z.object({
  name: z.string(),
  status: z.enum(['ok', 'warn', 'error']),
  message: z.string(),
  fix: z.string().nullable(),
})

export const update = z.object({
  current: z.string(),
  latest: z.string().nullable(),
  available: z.boolean(),
  updateAvailable: z.boolean().describe('the same as `available`'),
  configured: z.boolean(),
  message: z.string(),
})

export const toolCall = z.object({
  id: z.string(),
  sessionId: z.string(),
  name: z.string(),
  input: z.unknown(),
  status: z.enum(['pending', 'running', 'done', 'error', 'rejected']),
  output: z.string().nullable(),
  riskLevel: z.enum(['low', 'medium', 'high']),
  toolName: z.string().describe('the same as `name`'),
  createdAt: moment,
  createdAtUnix: z.number(),
  parentToolCallId: z.string().exactOptional(),
  external: z.boolean().exactOptional().describe('asked from outside: no agent of Corral runs it'),
})

export const message = z.object({
  id: z.string(),
  sessionId: z.string(),
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string(),
  status: z.enum(['streaming', 'done']),
  createdAt: moment,
  createdAtUnix: z.number(),
  aborted: z.boolean().exactOptional(),
  toolCall: toolCall.exactOptional(),
})

export const session = z.object({
  id: z.string(),
  provider: z.string(),
  repoPath: z.string(),
  title: z.string(),
  status: z.enum(STATUSES),
  createdAt: moment,
  createdAtUnix: z.number(),
  updatedAt: moment,
  messageCount: z.number(),
  mode: z.enum(MODES),
  tier: z.enum(['active', 'warm', 'cold']),
  queued: z.number(),
  pendingToolCalls: z.array(z.string()),
  permissions: z.array(z.string()).exactOptional(),
  model: z.string().exactOptional(),
  modelOverride: z.string().exactOptional(),
  routedProvider: z.string().exactOptional(),
  parentId: z.string().exactOptional(),
  error: z.string().exactOptional(),
  worktree: z.object({ path: z.string(), branch: z.string().nullable() }).exactOptional(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number().nullable() }),
})

export const repoStatus = z.object({
  repoPath: z.string(),
  path: z.string(),
  branch: z.string(),
  detached: z.boolean(),
  remotes: z.array(z.string()),
  isClean: z.boolean(),
  ahead: z.number(),
  behind: z.number(),
  staged: z.array(z.string()),
  unstaged: z.array(z.string()),
  untracked: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), status: z.string(), oldPath: z.string().exactOptional() })),
  hasConflicts: z.boolean(),
  truncated: z.boolean(),
  lastUpdated: z.string(),
})

const diffLine = z.object({
  type: z.enum(['context', 'added', 'removed']),
  content: z.string(),
  oldLineNo: z.number().nullable(),
  newLineNo: z.number().nullable(),
  noNewline: z.literal(true).exactOptional().describe('the file does not end with a line feed'),
})

/** What has changed in one file. */
export const fileDiff = z.object({
  path: z.string(),
  oldPath: z.string().nullable(),
  change: z.enum(['added', 'deleted', 'renamed', 'modified']),
  isBinary: z.boolean(),
  hunks: z.array(
    z.object({
      header: z.string(),
      oldStart: z.number(),
      oldLines: z.number(),
      newStart: z.number(),
      newLines: z.number(),
      lines: z.array(diffLine),
    }),
  ),
})
