import { z } from 'zod'
import { id, time } from './wire-base.ts'

/** What is used, in bytes. */

export const sample = z.object({
  at: time,
  totalBytes: z.number().describe('memory of the machine'),
  usedBytes: z.number(),
  daemonBytes: z.number(),
  agentsBytes: z.number().describe('all processes of all agents, with all that they have started'),
  active: z.number().describe('sessions, by tier'),
  warm: z.number(),
  cold: z.number(),
})

export const resources = sample.extend({
  sessions: z
    .array(
      z.object({
        sessionId: id,
        agent: z.string(),
        tier: z.enum(['active', 'warm', 'cold']),
        pid: z.number().nullable(),
        bytes: z.number().describe('sessions in one process share it evenly'),
        activeAt: time,
      }),
    )
    .describe('those that are not cold'),
})

export const limits = z.object({
  plan: z.string().exactOptional().describe('where the agent says which'),
  windows: z
    .array(
      z.object({
        name: z.string().describe("the agent's own name for it"),
        usedPercent: z.number(),
        lengthMs: z.number().nullable(),
        resetsAt: time.nullable(),
      }),
    )
    .describe('those that have not begun anew since'),
  at: time.describe('when it was told'),
})

export const worktree = z.object({
  sessionId: id,
  path: z.string(),
  from: z.string().nullable().describe('the checkout that it was made from, and is merged into'),
  branch: z.string().nullable().describe('what is checked out in it now'),
  base: z.string().nullable().describe('the commit that its changes are counted from'),
})

export const mergeOutcome = z.object({
  outcome: z
    .enum(['merged', 'nothing', 'conflict', 'blocked'])
    .describe('`conflict`, `blocked`: nothing was touched'),
  commit: z.string().exactOptional().describe('that the branch is at now'),
  how: z.enum(['fast-forward', 'merge', 'squash']).exactOptional(),
  why: z
    .enum(['detached', 'uncommitted', 'unfinished'])
    .exactOptional()
    .describe('what blocks: no branch, uncommitted changes in the way, or a merge or rebase under way'),
  files: z.array(z.string()).readonly().exactOptional().describe('those in conflict, or in the way'),
})

export const check = z.object({
  group: z.enum(['machine', 'home', 'configuration', 'daemon', 'agents']),
  name: z.string().describe('stays the same: `sqlite`, `disk_space`, `agent_claude`'),
  status: z.enum(['ok', 'warn', 'error', 'skipped']),
  message: z.string(),
  fix: z.string().nullable().describe('what to do about it'),
})

export const examination = z.object({
  status: z.enum(['ok', 'warn', 'error']).describe('the worst of all'),
  checks: z.array(check),
})
