import { QUIET, type CommandSpec, type NounSpec, type OptionSpec } from './spec.ts'

const agents = () => import('../commands/agents.ts')
const login = () => import('../commands/login.ts')
const devices = () => import('../commands/devices.ts')
const token = () => import('../commands/token.ts')

const AGENT_LIST: readonly OptionSpec[] = [
  ['-q, --quiet', 'print only the names of the agents that are installed'],
  ['--capabilities', 'compare what the agents can do'],
]

export const ACCESS_NOUNS: readonly NounSpec[] = [
  {
    name: 'agent',
    plural: 'agents',
    group: 'Agents and access',
    summary: 'List the agents, or show what one can do',
    bare: { args: '[agent]', options: AGENT_LIST, load: async () => (await agents()).bare },
  },
  {
    name: 'account',
    plural: 'accounts',
    group: 'Agents and access',
    summary: 'List the accounts and keys that Corral keeps for agents',
    bare: { args: '', options: [], load: async () => (await login()).list },
  },
  {
    name: 'device',
    plural: 'devices',
    group: 'Agents and access',
    summary: 'List, rename or remove the devices that may connect',
    bare: { args: '', options: QUIET, load: async () => (await devices()).list },
  },
  {
    name: 'token',
    plural: 'tokens',
    group: 'Agents and access',
    summary: "Show or replace the token for Corral's own port",
    bare: { args: '', options: [['--new', '']], load: async () => (await token()).bare },
  },
]

export const ACCESS_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'open',
    group: 'Everyday',
    args: '',
    summary: 'Open the dashboard in your browser',
    use: 'Use it to see all sessions and answer their questions in a browser. It signs you in with a code that works once and for a minute. Where no browser can be opened, it prints the address.',
    examples: ['corral open', 'corral open --print'],
    options: [['--print', 'print the address instead of opening it']],
    load: async () => (await import('../commands/open.ts')).open,
  },
  {
    name: 'login',
    noun: 'account',
    group: 'Agents and access',
    args: '[service]',
    summary: 'Sign in to a service for an agent, or store an API key',
    use: 'Use it once for each service. It signs in to openai (Codex) and antigravity (Gemini CLI) with a browser or a code. For anthropic, exa, gemini and openrouter it reads an API key from stdin. Without a service it lists the accounts.',
    examples: ['corral login openai', 'corral login anthropic < key.txt'],
    options: [
      ['--browser', 'sign in with a browser on this machine'],
      ['--code', 'sign in with a code that you type on any device'],
    ],
    old: ['account add'],
    load: async () => (await login()).login,
  },
  {
    name: 'logout',
    noun: 'account',
    group: 'Agents and access',
    args: '<service>',
    summary: 'Sign out of a service, or delete its API key',
    use: 'Use it when agents should no longer use the account. Agents that are at work keep it until they end.',
    examples: ['corral logout openai'],
    old: ['account rm'],
    load: async () => (await login()).logout,
  },
  {
    name: 'pair',
    noun: 'device',
    group: 'Agents and access',
    args: '',
    summary: 'Let a phone or another computer connect',
    use: 'Use it once for each device. It prints a PIN and a QR code that work for one device and a few minutes.',
    examples: ['corral pair --wait'],
    options: [
      ['--manage', 'the device may also add and remove other devices'],
      ['--svg <file>', 'write the QR code to this file instead of the terminal'],
      ['--wait', 'wait until the device has connected, and print its name'],
    ],
    old: ['device add'],
    load: async () => (await import('../commands/pair.ts')).pair,
  },
  {
    name: 'agent ls',
    args: '',
    summary: 'List the agents: installed or not, signed in or not',
    use: 'Use it to see which agents you can use, and how much of their accounts is used up.',
    examples: ['corral agent ls', 'corral agent ls --capabilities'],
    options: AGENT_LIST,
    load: async () => (await agents()).list,
  },
  {
    name: 'agent show',
    args: '<agent>',
    summary: 'Show what an agent can do, and its models',
    use: 'Use it to find the name of a model for `corral new --model`.',
    examples: ['corral agent show claude'],
    load: async () => (await agents()).show,
  },
  {
    name: 'account ls',
    args: '',
    summary: 'List the accounts and keys that Corral keeps',
    use: 'Use it to see what `corral login` has stored. Secrets are never printed.',
    examples: ['corral account ls'],
    load: async () => (await login()).list,
  },
  {
    name: 'device ls',
    args: '',
    summary: 'List the devices that may connect',
    use: 'Use it to see who has access, and when each device was last connected.',
    examples: ['corral device ls'],
    options: QUIET,
    load: async () => (await devices()).list,
  },
  {
    name: 'device show',
    args: '<device>',
    summary: 'Show what is known about a device',
    use: 'Use it to see what a device may do and when it was paired.',
    examples: ['corral device show 9b21d7f0'],
    load: async () => (await devices()).show,
  },
  {
    name: 'device rename',
    args: '<device> <name...>',
    summary: 'Give a device another name',
    use: 'Use it when two devices have the same name.',
    examples: ['corral device rename 9b21d7f0 Old phone'],
    load: async () => (await devices()).rename,
  },
  {
    name: 'device rm',
    args: '<device>',
    summary: 'Remove a device and close its connections',
    use: 'Use it when a device is lost or no longer used. It cannot connect again without a new PIN.',
    examples: ['corral device rm 9b21d7f0'],
    old: ['device revoke'],
    load: async () => (await devices()).remove,
  },
  {
    name: 'token show',
    args: '',
    summary: "Print the token for Corral's own port",
    use: 'Use it for a client that connects over HTTP or WebSocket and is not paired. It needs no daemon.',
    examples: ['corral token show'],
    load: async () => (await token()).show,
  },
  {
    name: 'token new',
    args: '',
    summary: 'Replace the token and print the new one',
    use: 'Use it when somebody else may know the token. Everybody who connected with the old one is disconnected.',
    examples: ['corral token new'],
    load: async () => (await token()).replace,
  },
]
