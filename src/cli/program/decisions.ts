import { QUIET, type CommandSpec, type NounSpec, type OptionSpec } from './spec.ts'

const approval = () => import('../commands/approval.ts')
const rules = () => import('../commands/rules.ts')

/** Which rules are meant. */
const HOLDER: readonly OptionSpec[] = [
  ['--session <session>', 'the rules of this session'],
  ['--directory <directory>', 'the rules of all sessions in this directory and below it'],
  ['--project <directory>', '', 'old'],
]

const SWITCHES: readonly OptionSpec[] = [
  ['--accept-edits', 'allow all edits of files'],
  ['--no-accept-edits', 'ask about edits of files again'],
  ['--skip <minutes>', 'allow everything for this many minutes; 0 ends it'],
]

export const DECISION_NOUNS: readonly NounSpec[] = [
  {
    name: 'approval',
    plural: 'approvals',
    group: 'Decisions',
    summary: 'List or show what agents wait for you to decide',
    bare: { args: '', options: QUIET, load: async () => (await approval()).list },
  },
  {
    name: 'rule',
    plural: 'rules',
    group: 'Decisions',
    summary: 'Allow or deny tools in advance, without a question',
    bare: {
      args: '[session]',
      options: [
        ['--directory <directory>', ''],
        ['--project <directory>', ''],
        ['--allow <rule>', '', 'many'],
        ['--deny <rule>', '', 'many'],
        ['--remove <rule>', '', 'many'],
        ...SWITCHES,
      ],
      load: async () => (await rules()).bare,
    },
  },
]

export const DECISION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'approve',
    noun: 'approval',
    group: 'Everyday',
    args: '<approval>',
    summary: 'Allow what an agent asks for, or answer its question',
    use: 'Use it for an approval that `corral approval ls` lists. A question of the agent needs --answer; a number stands for one of the options it offers.',
    examples: ['corral approve cbbca2.1', 'corral approve cbbca2.1 --answer "the second one"'],
    options: [
      ['--answer <text>', 'the answer to its question; give one for each question, in order', 'many'],
      ['--input <json>', 'run the tool with this input instead'],
      ['--session', 'do not ask about this again in this session'],
      ['--directory', 'do not ask about this again in any session of this directory'],
      ['--project', '', 'old'],
    ],
    load: async () => (await approval()).approve,
  },
  {
    name: 'deny',
    noun: 'approval',
    group: 'Everyday',
    args: '<approval> [comment...]',
    summary: 'Refuse what an agent asks for',
    use: 'Use it for an approval that `corral approval ls` lists. The agent reads the comment, if it can.',
    examples: ['corral deny cbbca2.1 "Use the staging database"'],
    load: async () => (await approval()).deny,
  },
  {
    name: 'inbox',
    group: 'Everyday',
    args: '',
    summary: 'See what needs you in all sessions, and answer it; `corral` alone does the same',
    use: 'Use it to keep an eye on everything: each decision with its session, its directory, and the command or the diff. In a terminal it is live: y allows, n refuses, a allows it in this session from now on, s is not now, o opens the session, q leaves. Elsewhere it prints a list.',
    examples: ['corral inbox', 'corral inbox --json'],
    load: async () => (await import('../commands/inbox.ts')).inbox,
  },
  {
    name: 'approval ls',
    args: '',
    summary: 'List the approvals that wait for a decision',
    use: 'Use it to see what agents wait for. Answer with `corral approve` or `corral deny`.',
    examples: ['corral approval ls'],
    options: QUIET,
    load: async () => (await approval()).list,
  },
  {
    name: 'approval show',
    args: '<approval>',
    summary: 'Show an approval and its decision',
    use: 'Use it to read everything an agent wants to do before you decide, or how it was decided.',
    examples: ['corral approval show cbbca2.1'],
    load: async () => (await approval()).show,
  },
  {
    name: 'rule ls',
    args: '',
    summary: 'List the rules of a session, of a directory or of all directories',
    use: 'Use it to see what agents may do without asking. Without an option it lists every directory that has rules.',
    examples: ['corral rule ls', 'corral rule ls --directory .', 'corral rule ls --session 5acbbca2'],
    options: HOLDER,
    load: async () => (await rules()).list,
  },
  {
    name: 'rule add',
    args: '<rule...>',
    summary: 'Allow tools without a question, or with --deny refuse them',
    use: 'Use it to stop being asked about the same thing. A rule is a tool or a class of tools, and a pattern in parentheses: edit, mcp__files__*, "shell(npm test*)". A rule that denies wins over one that allows.',
    examples: [
      "corral rule add --directory . 'shell(npm test*)'",
      "corral rule add --session 5acbbca2 --deny 'shell(git push*)'",
    ],
    options: [['--deny', 'refuse these tools instead of allowing them'], ...HOLDER],
    load: async () => (await rules()).add,
  },
  {
    name: 'rule rm',
    args: '<rule...>',
    summary: 'Remove rules',
    use: 'Use it with the rule as `corral rule ls` prints it.',
    examples: ["corral rule rm --directory . 'shell(npm test*)'"],
    options: HOLDER,
    load: async () => (await rules()).remove,
  },
  {
    name: 'rule set',
    args: '',
    summary: 'Allow all edits, or everything for some minutes',
    use: 'Use it when you trust the agent for a while and do not want to write single rules.',
    examples: [
      'corral rule set --session 5acbbca2 --accept-edits',
      'corral rule set --directory . --skip 30',
    ],
    options: [...SWITCHES, ...HOLDER],
    load: async () => (await rules()).set,
  },
]
