import { z } from 'zod'
import { adviceOn } from '../../../core/rule-advice.ts'
import { mustBeRules, NO_RULES } from '../../../core/rule.ts'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

/** Rules, and the directories that have their own. */
export const directoryMethods = [
  method({
    name: 'directory.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Directories with rules of their own.',
    params: z.strictObject({}),
    result: z.object({ directories: z.array(wire.directory) }),
    handler: (_params, { engine }) => ({ directories: engine.directories.list() }),
  }),
  method({
    name: 'directory.configure',
    scope: 'manage',
    repeat: 'idempotent',
    errors: ['path_not_found'],
    summary:
      'Rules for every session in a directory and below. What is open and now allowed or refused is answered.',
    params: z.strictObject({
      path: z.string().startsWith('/').describe('an absolute path'),
      rules: wire.someRules.describe('what is given replaces what was'),
    }),
    result: wire.directory,
    handler({ path, rules }, { engine }) {
      const known = engine.directories.list().find((directory) => directory.path === path)
      mustBeRules(rules, known?.rules ?? NO_RULES)
      return engine.directories.configure(path, rules)
    },
  }),
  method({
    name: 'directory.look',
    scope: 'use',
    repeat: 'read',
    errors: [],
    summary: 'What is at a path, for somebody who looks for a directory to work in. Reads names only.',
    params: z.strictObject({
      path: z.string().min(1).max(4096).describe('absolute, or from the home directory; `~` is that, too'),
    }),
    result: z.object({
      path: z.string().describe('absolute'),
      isDirectory: z.boolean(),
      inRepository: z.boolean().describe('a session there can have a worktree of its own'),
      directories: z
        .array(z.string())
        .readonly()
        .describe('names of those in it, without hidden ones; at most 500'),
      truncated: z.boolean(),
    }),
    handler: ({ path }, { daemon }) => daemon.lookAt(path),
  }),
  method({
    name: 'rules.check',
    scope: 'read',
    repeat: 'read',
    errors: ['agent_unknown'],
    summary: 'Says which rules cannot do what they seem to, and why: agents do not ask about everything.',
    params: z.strictObject({
      rules: wire.someRules,
      agent: z
        .string()
        .min(1)
        .max(64)
        .exactOptional()
        .describe('for this agent; else for all that are installed'),
    }),
    result: z.object({ warnings: z.array(z.object({ rule: z.string(), message: z.string() })) }),
    async handler({ rules, agent }, { agents }) {
      const held = (await agents()).filter(({ name, installed }) => (agent ? name === agent : installed))
      return { warnings: adviceOn(rules, held) }
    },
  }),
]
