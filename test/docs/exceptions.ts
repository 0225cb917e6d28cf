/**
 * What the documentation says and this machine cannot do. Each has a reason, which the test prints; what such a command says about
 * `corral` is checked against the program all the same.
 */
export interface Exception {
  command: RegExp
  why: string
}

const REGISTRY = 'needs a registry of packages'

export const NOT_RUN: readonly Exception[] = [
  {
    command: /^npm (ci|start|test)\b|^npm ci && npm (start|test)/,
    why: 'is what CI does with this checkout',
  },
  { command: /^npm run bench/, why: 'takes minutes, and wants a quiet machine' },
  {
    command: /^npm (un)?install (--global|corral$)/,
    why: `${REGISTRY}; the packed file is installed by test/package`,
  },
  { command: /^npx humanlayer/, why: `${REGISTRY}; npm run test:real runs it` },
  { command: /^(claude|codex login|gemini|opencode auth login)$/, why: 'wants a person and an account' },
  {
    command: /^claude (-p|mcp add)|ANTHROPIC_BASE_URL=\S+ .*claude$/,
    why: 'needs Claude Code; npm run test:real has it',
  },
  { command: /^corral new --agent (codex|goose)/, why: 'needs that agent' },
  {
    command: /^corral adopt [0-9a-f]{8}/,
    why: 'needs an agent with a conversation of its own; test/real/adopt.test.ts has four',
  },
  {
    command: /^corral (machine add |new --on )/,
    why: 'needs another machine; test/fleet has one behind a real sshd',
  },
  { command: /^nats-server /, why: 'is a service; test/fleet has one of its own' },
  { command: /^docker /, why: 'needs Docker; test/package checks the recipe' },
  {
    command: /^corral service (install|status|uninstall)/,
    why: 'needs a running systemd; test/cli/service.test.ts has a stand-in',
  },
  { command: /^corral upgrade$/, why: 'needs a release feed; test/package/upgrade.test.ts has one' },
  { command: /^corral login openai$/, why: 'needs a person; test/signin has an issuer' },
  {
    command: /https:\/\/box\.example/,
    why: 'needs another machine; test/dialects/codecast has one with TLS',
  },
]

/** Pages that another test follows as a whole. */
export const FOLLOWED: Readonly<Record<string, string>> = {
  'docs/start.md': 'test/package/walk.test.ts',
}

/** Commands that do not end by themselves: it is enough that they say something. */
export const GOES_ON: readonly RegExp[] = [/^corral attach/, /^corral logs -f/, /"method":"Subscribe"/]

/** Commands that may end with another code than 0, and why that is right here. */
export const OTHER_CODES: readonly { command: RegExp; code: number; why: string }[] = [
  { command: /^corral doctor$/, code: 1, why: 'no agent but demo is installed' },
]
