import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPENCODE, opencodeAbsent } from '../support/opencode-env.ts'
import { absent, AGENTS, bin, type ProgramRig, versionOf } from './rig.ts'

export type Shape = 'openai' | 'anthropic'

/** A coding agent that talks to any API, pointed at the relay. */
export interface Command {
  name: string
  absent: string | false
  shapes: readonly Shape[]
  /** Its own tool that runs a command, and what that takes beside it. */
  shell: readonly [tool: string, more: object]
  /** Writes its settings; returns how it is told something, or told something more in the same conversation. */
  prepare(rig: ProgramRig, shape: Shape): (prompt: string, goesOn?: boolean) => Parameters<ProgramRig['run']>
}

const MODEL = 'claude-sonnet-4-6'
const baseUrl = ({ url }: ProgramRig, shape: Shape): string => (shape === 'openai' ? `${url}/v1` : url)

function write(path: string, value: unknown): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
}

const copilot: Command = {
  name: versionOf('@github/copilot'),
  absent: absent('@github/copilot'),
  shapes: ['openai', 'anthropic'],
  shell: ['bash', { description: 'make it' }],
  prepare: (rig, shape) => (prompt, goesOn) => [
    [...bin('copilot'), '--silent', '--allow-all-tools', ...(goesOn ? ['--continue'] : []), '-p', prompt],
    {
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PROVIDER_TYPE: shape,
      COPILOT_PROVIDER_BASE_URL: baseUrl(rig, shape),
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: MODEL,
    },
  ],
}

const qwen: Command = {
  name: versionOf('@qwen-code/qwen-code'),
  absent: absent('@qwen-code/qwen-code'),
  shapes: ['openai'],
  shell: ['run_shell_command', { description: 'make it', is_background: false }],
  prepare(rig, shape) {
    write(join(rig.home, '.qwen/settings.json'), {
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: 'openai' } },
    })
    return (prompt, goesOn) => [
      [...bin('qwen'), '--yolo', ...(goesOn ? ['--continue'] : []), prompt],
      { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: baseUrl(rig, shape), OPENAI_MODEL: MODEL },
    ]
  },
}

const pi: Command = {
  name: versionOf('@mariozechner/pi-coding-agent'),
  absent: absent('@mariozechner/pi-coding-agent'),
  shapes: ['openai', 'anthropic'],
  shell: ['bash', {}],
  prepare(rig, shape) {
    const limits = { contextWindow: 100_000, maxTokens: 8000, input: ['text'], reasoning: false }
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    const relay = {
      baseUrl: baseUrl(rig, shape),
      api: shape === 'openai' ? 'openai-completions' : 'anthropic-messages',
      apiKey: 'none',
      models: [{ id: MODEL, name: MODEL, ...limits, cost }],
    }
    write(join(rig.home, '.pi/agent/models.json'), { providers: { relay } })
    const chosen = ['--provider', 'relay', '--model', MODEL]
    return (prompt, goesOn) => [
      [...bin('pi'), ...chosen, ...(goesOn ? ['--continue'] : []), '-p', prompt],
      { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
    ]
  },
}

const continueCli: Command = {
  name: versionOf('@continuedev/cli'),
  absent: absent('@continuedev/cli'),
  shapes: ['openai', 'anthropic'],
  shell: ['Bash', {}],
  prepare(rig, shape) {
    const config = join(rig.home, 'config.yaml')
    // JSON is YAML as well.
    write(config, {
      name: 'relay',
      version: '0.0.1',
      schema: 'v1',
      models: [
        {
          name: 'relay',
          provider: shape,
          model: MODEL,
          apiBase: `${rig.url}/v1`,
          apiKey: 'none',
          roles: ['chat'],
          capabilities: ['tool_use'],
        },
      ],
    })
    return (prompt, goesOn) => [
      [...bin('cn'), '--config', config, '--auto', ...(goesOn ? ['--resume'] : []), '-p', prompt],
      { CONTINUE_TELEMETRY_ENABLED: '0' },
    ]
  },
}

const opencode: Command = {
  name: versionOf('opencode-linux-x64', AGENTS),
  absent: opencodeAbsent,
  shapes: ['openai', 'anthropic'],
  shell: ['bash', { description: 'make it' }],
  prepare(rig, shape) {
    const own = join(rig.home, 'config/opencode')
    // It finds its plugin package installed here, and so does not ask the registry for it.
    mkdirSync(join(own, 'node_modules'), { recursive: true })
    write(join(own, 'package-lock.json'), {
      packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } },
    })
    const npm = shape === 'openai' ? '@ai-sdk/openai-compatible' : '@ai-sdk/anthropic'
    const model = { tool_call: true, limit: { context: 100_000, output: 8000 } }
    write(join(own, 'opencode.json'), {
      provider: {
        relay: { npm, options: { baseURL: `${rig.url}/v1`, apiKey: 'none' }, models: { [MODEL]: model } },
      },
      enabled_providers: ['relay'],
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
    })
    const places = ['CONFIG', 'DATA', 'CACHE', 'STATE'].map((one) => [
      `XDG_${one}_HOME`,
      join(rig.home, one.toLowerCase()),
    ])
    return (prompt, goesOn) => [
      [OPENCODE, 'run', '-m', `relay/${MODEL}`, ...(goesOn ? ['--continue'] : []), prompt],
      {
        ...(Object.fromEntries(places) as Record<string, string>),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      },
    ]
  },
}

export const COMMANDS: readonly Command[] = [copilot, qwen, pi, continueCli, opencode]
