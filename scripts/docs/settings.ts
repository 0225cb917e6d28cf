import { allowed, SETTINGS, type Setting } from '../../src/config/schema.ts'

interface Section {
  about: string
  /** One value for each of its settings: another one than the default. A test reads them as the daemon does. */
  examples: Record<string, unknown>
}

/** What the page of the configuration says about each section, beside what the schema knows. */
const SECTIONS: Record<string, Section> = {
  http: {
    about: "Corral's own port, with the dashboard: [http.md](http.md), [dashboard.md](dashboard.md).",
    examples: {
      enabled: true,
      port: 8080,
      bind: '0.0.0.0',
      bodyLimit: 67_108_864,
      otherUsers: true,
    },
  },
  codecast: {
    about: "Codecast's clients: [codecast.md](codecast.md).",
    examples: { enabled: false, port: 9200, bind: '127.0.0.1' },
  },
  humanlayer: {
    about: "HumanLayer's clients: [humanlayer.md](humanlayer.md).",
    examples: {
      enabled: false,
      socket: '/tmp/humanlayer.sock',
      agent: 'codex',
      askAlways: false,
      lineLimit: 1_048_576,
    },
  },
  clawde: {
    about: "ClawDE's clients: [clawde.md](clawde.md).",
    examples: {
      enabled: true,
      host: '0.0.0.0',
      port: 4301,
      connectionsPerMinute: 60,
      limitLoopback: true,
      requestsPerSecond: 20,
      mdns: false,
      maxSessions: 50,
    },
  },
  relay: {
    about:
      'Programs that use the Anthropic or OpenAI API: [relay.md](relay.md). Who answers them is set in the dashboard, or in a file of the relay’s own.',
    examples: {
      enabled: false,
      port: 7500,
      maxActive: 4,
      maxWaiting: 100,
      maxHeld: 4,
      heldMs: 60_000,
      idleMs: 600_000,
    },
  },
  defaults: {
    about: 'What new sessions begin with: [agents.md](agents.md#which-one-and-what-it-may-do).',
    examples: { agent: 'codex', mode: 'code' },
  },
  agents: {
    about:
      'Processes of agents: [agents.md](agents.md#processes). Agents of your own are in this section too, by name: [agents/acp.md](agents/acp.md).',
    examples: {
      maxWarm: 4,
      idleMs: 300_000,
      orphanMs: 7_200_000,
      readyMs: 120_000,
      spare: true,
      interruptMs: 5000,
      termMs: 10_000,
      killMs: 10_000,
    },
  },
  stop: {
    about: 'The end of the daemon: [cli.md](cli.md#stopping).',
    examples: { graceMs: 60_000 },
  },
  queue: { about: 'Messages that wait for a turn.', examples: { max: 20 } },
  approvals: { about: 'What agents ask.', examples: { timeoutMs: 86_400_000 } },
  checkpoints: {
    about: 'The files before each turn, to go back to: [cli.md](cli.md#commands) (`corral restore`).',
    examples: { enabled: false, waitMs: 10_000 },
  },
  pairing: { about: 'PINs of `corral pair`.', examples: { pinTtlMs: 120_000 } },
  fleet: {
    about: 'Other machines by way of NATS: [fleet.md](fleet.md).',
    examples: {
      url: 'tls://nats.example.com:4222',
      credentials: '/home/me/.corral/fleet.creds',
      key: '/home/me/.corral/fleet.key',
      name: 'desk',
      share: false,
      heartbeatMs: 5000,
    },
  },
  signin: {
    about: '`corral login`: [signin.md](signin.md).',
    examples: {
      keychain: false,
      timeoutMs: 300_000,
      openaiIssuer: 'https://login.example.com',
      openaiClientId: 'my-client',
      openaiScopes: 'openid offline_access',
      openaiPort: 1456,
      antigravityIssuer: 'https://login.example.com',
      antigravityClientId: 'my-client.apps.googleusercontent.com',
      antigravityClientSecret: 'what-google-shows',
      antigravityScopes: 'openid email',
      antigravityPort: 8765,
    },
  },
  system: {
    about: 'How much memory agents may take before idle ones end.',
    examples: { maxMemoryPercent: 70, emergencyMemoryPercent: 85 },
  },
  updates: {
    about: '`corral upgrade`: [install.md](install.md#upgrade).',
    examples: {
      feed: 'https://example.com/corral/feed.json',
      publicKey: 'Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=',
    },
  },
  retention: {
    about: 'How long the log keeps what happened.',
    examples: { days: 365, destroyedDays: 7 },
  },
  log: {
    about: "The daemon's own log, `corral.log`: [install.md](install.md#the-log).",
    examples: { level: 'warn', maxBytes: 1_048_576, keep: 1 },
  },
}

/** Every setting, by section, with an example of each. */
export function configurationText(): string {
  const sections = Map.groupBy(SETTINGS, ({ path: [section] }) => section)
  const known = Object.keys(SECTIONS)
  const gone = known.filter((name) => !sections.has(name))
  if (gone.length > 0) throw new Error(`the configuration has no section ${gone.join(', ')}`)
  return [...sections].map(([name, settings]) => sectionText(name, settings)).join('\n\n')
}

function sectionText(name: string, settings: readonly Setting[]): string {
  const section = SECTIONS[name]
  if (!section) throw new Error(`scripts/docs/settings.ts says nothing about the section ${name}`)
  const rows = settings.map(({ path, env, schema, initial, description }) => {
    return `| \`${path[1]}\` | ${description} | ${allowed(schema)} | \`${JSON.stringify(initial)}\` | \`${env}\` |`
  })
  const lines = settings.map(({ path: [, key] }) => {
    if (!(key in section.examples)) throw new Error(`no example for ${name}.${key}`)
    return `  ${key}: ${scalar(section.examples[key])}`
  })
  return [
    `## ${name}`,
    '',
    section.about,
    '',
    '| Key | Meaning | Allowed | If not set | Variable |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '```yaml',
    `${name}:`,
    ...lines,
    '```',
  ].join('\n')
}

/** As YAML has it; what could be read as something else than a text is in quotes. */
function scalar(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return /^[a-z][\w/.-]*$/i.test(value) ? value : JSON.stringify(value)
}
