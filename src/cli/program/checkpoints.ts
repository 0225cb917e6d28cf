import { QUIET, type CommandSpec, type NounSpec } from './spec.ts'

const checkpoint = () => import('../commands/checkpoint.ts')

export const CHECKPOINT_NOUNS: readonly NounSpec[] = [
  {
    name: 'checkpoint',
    plural: 'checkpoints',
    group: 'Sessions',
    summary: 'Bring the files of a session back to what they were before a turn',
    bare: { args: '<session>', options: QUIET, load: async () => (await checkpoint()).list },
  },
]

export const CHECKPOINT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'changes',
    noun: 'session',
    group: 'Sessions',
    args: '<session>',
    summary: 'Show what a session has changed in its git repository',
    use: 'Use it to review the work of an agent. Without an option it shows the last turn. New files are included.',
    examples: ['corral changes 5acbbca2', 'corral changes 5acbbca2 --session'],
    options: [
      ['--turn <turn>', 'what this turn has changed; `corral checkpoint ls` lists them'],
      ['--session', 'everything since the first turn of the session'],
      ['--branch', 'everything since the branch left the default branch'],
      ['--uncommitted', 'everything since the last commit'],
    ],
    load: async () => (await checkpoint()).changes,
  },
  {
    name: 'checkpoint ls',
    args: '<session>',
    summary: 'List the turns of a session whose files can be brought back',
    use: 'Use it to find the turn you want to undo. Each checkpoint has the files as they were before its turn.',
    examples: ['corral checkpoint ls 5acbbca2'],
    options: QUIET,
    load: async () => (await checkpoint()).list,
  },
  {
    name: 'restore',
    noun: 'checkpoint',
    group: 'Sessions',
    args: '<session> [turn]',
    summary: 'Bring the files back to what they were before a turn',
    use: 'Use it to undo what an agent has done. Without --yes it only shows what would change. Commits, ignored files and what you have staged stay as they are. Corral refuses if it would lose work of yours, and prints how to undo it. With nothing but the file of a backup it is `corral backup restore`.',
    examples: ['corral restore 5acbbca2 77e0c1d4', 'corral restore 5acbbca2 77e0c1d4 --yes'],
    options: [
      ['--yes', 'do it'],
      ['--force', 'with --yes: also files you have changed since'],
    ],
    load: async () => (await checkpoint()).restore,
  },
]
