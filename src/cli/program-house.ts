import type { CommandSpec } from './program.ts'

const devices = () => import('./commands/devices.ts')
const projects = () => import('./commands/projects.ts')
const worktree = () => import('./commands/worktree.ts')

/** What belongs to no single turn: who may come in, projects, worktrees, what is used. */
export const HOUSE: readonly CommandSpec[] = [
  {
    name: 'login',
    args: '[name]',
    summary:
      'sign in for an agent (openai, antigravity), or give it a key on stdin (anthropic, exa, gemini, openrouter); alone: who has',
    options: [
      ['--browser', 'with a browser on this machine, though there seems to be none'],
      ['--code', 'with a code to type on any device'],
    ],
    load: async () => (await import('./commands/login.ts')).login,
  },
  {
    name: 'logout',
    args: '<service>',
    summary: 'sign out again, or forget a key',
    options: [],
    load: async () => (await import('./commands/login.ts')).logout,
  },
  {
    name: 'pair',
    args: '',
    summary: 'let a phone or another computer in: shows a PIN and a QR code',
    options: [
      ['--manage', 'it may let others in and put them out, too'],
      ['--svg <file>', 'draw the QR code into this file instead of the terminal'],
      ['--wait', 'stay until somebody has come in, and say who'],
    ],
    load: async () => (await import('./commands/pair.ts')).pair,
  },
  {
    name: 'devices',
    args: '',
    summary: 'list the devices that were let in',
    options: [['-q, --quiet', 'ids only']],
    load: async () => (await devices()).list,
  },
  {
    name: 'devices revoke',
    args: '<device>',
    summary: 'put a device out: its token is worth nothing any more, its connections close',
    options: [],
    load: async () => (await devices()).revoke,
  },
  {
    name: 'devices rename',
    args: '<device> <name...>',
    summary: 'give a device another name',
    options: [],
    load: async () => (await devices()).rename,
  },
  {
    name: 'projects',
    args: '',
    summary: 'list projects: names for repositories that belong together',
    options: [['-q, --quiet', 'ids only']],
    load: async () => (await projects()).list,
  },
  {
    name: 'projects create',
    args: '<name...>',
    summary: 'make a project',
    options: [
      ['--repo <directory>', 'with this repository in it', true],
      ['--root <directory>', 'all of its repositories are below this one'],
      ['--description <text>', 'what it is about'],
    ],
    load: async () => (await projects()).create,
  },
  {
    name: 'projects delete',
    args: '<project>',
    summary: 'forget a project; its repositories stay where they are',
    options: [],
    load: async () => (await projects()).remove,
  },
  {
    name: 'projects add-repo',
    args: '<project> [directory]',
    summary: 'add a repository, this one if none is given',
    options: [],
    load: async () => (await projects()).addRepo,
  },
  {
    name: 'projects remove-repo',
    args: '<project> [directory]',
    summary: 'take a repository out again; it stays where it is',
    options: [],
    load: async () => (await projects()).removeRepo,
  },
  {
    name: 'worktree',
    args: '',
    summary: 'list the worktrees that sessions have for themselves (`corral new --worktree`)',
    options: [['-q, --quiet', 'ids of the sessions only']],
    load: async () => (await worktree()).list,
  },
  {
    name: 'worktree diff',
    args: '<worktree>',
    summary: 'what a session has changed in its worktree',
    options: [],
    load: async () => (await worktree()).diff,
  },
  {
    name: 'worktree merge',
    args: '<worktree>',
    summary: 'bring that into the branch that is checked out in the repository',
    options: [['-m, --message <text>', 'of the commit']],
    load: async () => (await worktree()).merge,
  },
  {
    name: 'worktree discard',
    args: '<worktree>',
    summary: 'remove a worktree; refused while work in it is nowhere else',
    options: [['--force', 'that work may be lost']],
    load: async () => (await worktree()).discard,
  },
  {
    name: 'top',
    args: '',
    summary: 'the memory that the daemon and each agent use',
    options: [],
    load: async () => (await import('./commands/top.ts')).top,
  },
]
