import type { Command as Action } from './cli.ts'
import { HOUSE } from './program-house.ts'

/** One subcommand, as data: help, completion and documentation come from here, its code is loaded when it runs. */
export interface CommandSpec {
  /** `devices revoke` is a command of the command `devices`, which stands before it. */
  name: string
  /** In commander's notation: `<session> [message...]`. */
  args: string
  summary: string
  options: readonly (readonly [flags: string, description: string, repeatable?: true])[]
  load(): Promise<Action>
}

export const COMMON: CommandSpec['options'] = [
  ['--home <directory>', 'where Corral keeps its data (CORRAL_HOME, ~/.corral)'],
  ['--json', 'print JSON, one value per line'],
]

const LISTEN: CommandSpec['options'] = [
  ['--port <port>', "Corral's own port (CORRAL_PORT, 2677); 0 takes any free one"],
  ['--codecast-port <port>', 'port for Codecast clients; 0 takes any free one'],
]

const SETUP: CommandSpec['options'] = [
  ['--mode <mode>', 'auto, code, plan or ask: what the agent may do without asking'],
  ['--model <model>', 'a model that the agent knows'],
  ['--effort <effort>', 'off, minimal, low, medium, high, xhigh, max or default: how long the agent thinks'],
  ['--title <title>', 'a name for people'],
]

const NO_WAIT: CommandSpec['options'] = [['--no-wait', 'do not stay for the answer']]

const daemon = () => import('./commands/daemon.ts')
const session = () => import('./commands/session.ts')
const talk = () => import('./commands/talk.ts')
const approval = () => import('./commands/approval.ts')

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'start',
    args: '',
    summary: 'start the daemon (what `corral` alone does)',
    options: [...LISTEN, ['-d, --detach', 'in the background, with a log file']],
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    name: 'stop',
    args: '',
    summary: 'stop the daemon',
    options: [
      ['--now', 'do not wait for running turns'],
      ['--keep-agents', 'leave agents running; the next daemon takes them up'],
    ],
    load: async () => (await daemon()).stop,
  },
  {
    name: 'restart',
    args: '',
    summary: 'stop the daemon, keep its agents running, start it again in the background',
    options: LISTEN,
    load: async () => (await daemon()).restart,
  },
  {
    name: 'status',
    args: '',
    summary: 'how the daemon is doing',
    options: [],
    load: async () => (await daemon()).status,
  },
  {
    name: 'token',
    args: '',
    summary: "print the token for Corral's own port; needs no daemon",
    options: [['--new', 'make another one first: whoever came in with the old one is disconnected']],
    load: async () => (await import('./commands/token.ts')).token,
  },
  {
    name: 'doctor',
    args: '',
    summary: 'look whether all is well, and what to do where it is not; needs no daemon',
    options: [],
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'agents',
    args: '[agent]',
    summary:
      'which agents are installed and signed in to, and what is left of their accounts; of one, what it can do and its models',
    options: [
      ['-q, --quiet', 'names only, of those that are installed'],
      ['--capabilities', 'what each of them can do'],
    ],
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  {
    name: 'new',
    args: '[message...]',
    summary: 'start a session, with a first message or without (`-` reads it from stdin)',
    options: [
      ['--agent <agent>', 'claude if it is installed, else demo'],
      ['--cwd <directory>', 'where the agent works; here, if not given'],
      ['--worktree', 'in a git worktree of its own; see `corral worktree`'],
      ['--carry', 'with --worktree: uncommitted work comes along'],
      ...SETUP,
      ...NO_WAIT,
    ],
    load: async () => (await talk()).create,
  },
  {
    name: 'send',
    args: '<session> [message...]',
    summary: 'send a message and watch the answer (`-` reads it from stdin)',
    options: [...NO_WAIT, ['--key <key>', 'the same key twice is one message']],
    load: async () => (await talk()).send,
  },
  {
    name: 'steer',
    args: '<session> [message...]',
    summary: 'a message to the turn that runs (`-` reads it from stdin)',
    options: [['--key <key>', 'the same key twice is one message']],
    load: async () => (await talk()).steer,
  },
  {
    name: 'compact',
    args: '<session>',
    summary: 'have the agent sum up the conversation, to make room',
    options: NO_WAIT,
    load: async () => (await talk()).compact,
  },
  {
    name: 'attach',
    args: '<session>',
    summary: 'watch a session live, answer its approvals, write to it',
    options: [['--history <items>', 'how much of the past to show (20)']],
    load: async () => (await talk()).attach,
  },
  {
    name: 'ls',
    args: '',
    summary: 'list sessions',
    options: [
      ['-q, --quiet', 'ids only'],
      ['--agent <agent>', 'of this agent only'],
      ['--limit <number>', 'at most so many (50)'],
      ['--archived', 'those that were put away'],
    ],
    load: async () => (await session()).list,
  },
  {
    name: 'history',
    args: '<session>',
    summary: 'print the conversation',
    options: [['--limit <items>', 'the last so many (100)']],
    load: async () => (await session()).history,
  },
  {
    name: 'approvals',
    args: '',
    summary: 'list what waits for an answer',
    options: [['-q, --quiet', 'ids only']],
    load: async () => (await approval()).approvals,
  },
  {
    name: 'approve',
    args: '<approval>',
    summary: 'allow what an agent asks for',
    options: [
      ['--input <json>', 'run the tool with this input instead'],
      ['--answer <text>', 'the answer to its question; once for each, in order', true],
      ['--session', 'and do not ask again in this session'],
      ['--project', 'nor in any other session of this directory'],
    ],
    load: async () => (await approval()).approve,
  },
  {
    name: 'deny',
    args: '<approval> [comment...]',
    summary: 'refuse what an agent asks for; the comment is told to agents that can hear it',
    options: [],
    load: async () => (await approval()).deny,
  },
  {
    name: 'rules',
    args: '[session]',
    summary: 'show or change what passes, or is refused, without asking',
    options: [
      ['--project <directory>', 'of every session in this directory and below, instead of one session'],
      ['--allow <rule>', 'let it pass: edit, mcp__files__*, "shell(npm test*)"', true],
      ['--deny <rule>', 'refuse it, whatever else is allowed', true],
      ['--remove <rule>', 'forget a rule', true],
      ['--accept-edits', 'let edits of files pass'],
      ['--no-accept-edits', 'ask about them again'],
      ['--skip <minutes>', 'let everything pass for so long; 0 ends it'],
    ],
    load: async () => (await import('./commands/rules.ts')).rules,
  },
  {
    name: 'interrupt',
    args: '<session>',
    summary: 'stop the running turn',
    options: [['--clear', 'and drop the messages that wait']],
    load: async () => (await session()).interrupt,
  },
  {
    name: 'pause',
    args: '<session>',
    summary: 'hold a session',
    options: [],
    load: async () => (await session()).pause,
  },
  {
    name: 'resume',
    args: '<session>',
    summary: 'end a pause',
    options: [],
    load: async () => (await session()).resume,
  },
  {
    name: 'fork',
    args: '<session>',
    summary: 'a new session that branches off here',
    options: [['--title <title>', 'a name for people']],
    load: async () => (await session()).fork,
  },
  {
    name: 'rm',
    args: '<session...>',
    summary: 'remove sessions and end their agents',
    options: [],
    load: async () => (await session()).remove,
  },
  {
    name: 'set',
    args: '<session>',
    summary: 'change a session',
    options: [
      ...SETUP,
      ['--archive', 'put it away: out of the list, not gone'],
      ['--no-archive', 'take it out again'],
    ],
    load: async () => (await session()).set,
  },
  {
    name: 'export',
    args: '<session>',
    summary: 'a whole session as a document: Markdown for people, JSON for programs',
    options: [
      ['--format <format>', 'md or json (md)'],
      ['-o, --output <file>', 'into this file, which is there only when it is complete'],
    ],
    load: async () => (await import('./commands/export.ts')).exportSession,
  },
  {
    name: 'search',
    args: '<words...>',
    summary: 'find what was said, in every session',
    options: [
      ['--session <session>', 'only in this one'],
      ['--limit <count>', 'at most so many (20)'],
    ],
    load: async () => (await import('./commands/search.ts')).search,
  },
  {
    name: 'queue',
    args: '<session>',
    summary: 'the messages that wait',
    options: [
      ['--remove <turn>', 'take one out'],
      ['--move <turn>', 'put one in another place'],
      ['--to <position>', 'with --move: 1 is the next to run (1)'],
    ],
    load: async () => (await import('./commands/queue.ts')).queue,
  },
  ...HOUSE,
  {
    name: 'mcp',
    args: '<server>',
    summary: 'serve MCP on stdin and stdout; `approvals` lets any agent ask a human through Corral',
    options: [['--session <session>', 'ask in this session (CORRAL_SESSION_ID), not in one of its own']],
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    name: 'acp',
    args: '',
    summary: 'serve ACP on stdin and stdout: an editor opens, prompts and approves sessions of Corral',
    options: [
      ['--start', 'start a daemon in the background if none is running'],
      ['--agent <agent>', 'of new sessions: claude if it is installed, else demo'],
      ['--mode <mode>', 'of new sessions: auto, code, plan or ask'],
      ['--model <model>', 'of new sessions: a model that the agent knows'],
    ],
    load: async () => (await import('./commands/acp.ts')).acp,
  },
  {
    name: 'rpc',
    args: '',
    summary: 'serve the loaf protocol on stdin and stdout, with the running daemon or with one of its own',
    options: [['--standalone', 'with an engine of its own, on the same data; refused while a daemon runs']],
    load: async () => (await import('./commands/rpc.ts')).rpc,
  },
  {
    name: 'completion',
    args: '<shell>',
    summary: 'print the completion script for bash, zsh or fish',
    options: [],
    load: async () => (await import('./commands/completion.ts')).completion,
  },
]
