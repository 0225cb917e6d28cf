import { type Effort, nearestEffort } from '../../core/effort.ts'
import type { ModelsOf } from './ports.ts'
import type { ModelOption } from './wire.ts'

/** Who offers a model, in the words of the protocol, and the agent that is run for it. */
export const AGENT_OF = {
  openai: 'codex',
  openrouter: 'opencode',
  antigravity: 'gemini',
  anthropic: 'claude',
  demo: 'demo',
} as const

export type Provider = keyof typeof AGENT_OF

export const PROVIDERS = Object.keys(AGENT_OF) as Provider[]

export const LEVELS = ['OFF', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'] as const
export type Level = (typeof LEVELS)[number]
export const START_LEVEL: Level = 'HIGH'

/** Leaves the choice to the agent. */
const DEFAULT = 'default'
/** How OpenCode names what it gets from OpenRouter, and how what it gets elsewhere is named here. */
const OPENROUTER = 'openrouter/'
const ELSEWHERE = 'opencode:'

/** What is offered until an agent has told its models: few, and names that stay. */
const KNOWN: Record<Provider, readonly (readonly [id: string, label: string, window?: number])[]> = {
  openai: [
    ['gpt-5-codex', 'GPT-5 Codex', 272_000],
    ['gpt-5', 'GPT-5', 272_000],
  ],
  openrouter: [
    ['anthropic/claude-sonnet-4.5', 'Claude Sonnet 4.5', 200_000],
    ['openai/gpt-5', 'GPT-5', 272_000],
    ['google/gemini-2.5-pro', 'Gemini 2.5 Pro', 1_000_000],
  ],
  antigravity: [
    ['gemini-2.5-pro', 'Gemini 2.5 Pro', 1_000_000],
    ['gemini-2.5-flash', 'Gemini 2.5 Flash', 1_000_000],
  ],
  anthropic: [
    ['opus', 'Claude Opus'],
    ['sonnet', 'Claude Sonnet'],
    ['haiku', 'Claude Haiku'],
  ],
  demo: [['demo', 'Demo', 100_000]],
}

export function providerOf(agent: string): Provider | null {
  return PROVIDERS.find((provider) => AGENT_OF[provider] === agent) ?? null
}

/** What the agent calls a model; null: its own choice. */
export function nativeModel(provider: Provider, id: string): string | null {
  if (id === DEFAULT) return null
  if (provider !== 'openrouter') return id
  return id.startsWith(ELSEWHERE) ? id.slice(ELSEWHERE.length) : `${OPENROUTER}${id}`
}

/** What the protocol calls a model of an agent. */
export function modelId(provider: Provider, native: string | null): string {
  if (native === null) return DEFAULT
  if (provider !== 'openrouter') return native
  return native.startsWith(OPENROUTER) ? native.slice(OPENROUTER.length) : `${ELSEWHERE}${native}`
}

/** The models of a provider: the agent's own choice, those that it tells or else are known, those that were used before. */
export function modelsOf(provider: Provider, { told, used }: ModelsOf): ModelOption[] {
  const agent = AGENT_OF[provider]
  const known = told.length > 0 ? told.map((model) => toldOption(provider, model)) : knownOptions(provider)
  const others = [...new Set(used.map((native) => modelId(provider, native)))]
    .filter((id) => !known.some((model) => model.id === id))
    .map((id) => option(provider, id, id, `used before with ${agent}`))
  return [option(provider, DEFAULT, 'Default', `what ${agent} takes by itself`), ...known, ...others]
}

function toldOption(provider: Provider, told: ModelsOf['told'][number]): ModelOption {
  const id = modelId(provider, told.id)
  const window = told.contextWindow ?? KNOWN[provider].find(([known]) => known === id)?.[2]
  return {
    ...option(provider, id, told.name, told.description ?? `with ${AGENT_OF[provider]}`),
    ...(told.efforts && levelsOf(told.efforts, told.defaultEffort)),
    ...(window !== undefined && { contextWindowTokens: window }),
  }
}

/** The levels of the protocol among an agent's; a model without any does not think. */
function levelsOf(told: readonly Effort[], own?: Effort) {
  const efforts = told.filter((effort) => LEVELS.includes(levelNamed(effort)))
  const supported = efforts.length > 0 ? efforts : (['off'] as const)
  const start = nearestEffort(own ?? effortOf(START_LEVEL), supported) ?? 'off'
  return { supportedThinkingLevels: supported.map(levelNamed), defaultThinkingLevel: levelNamed(start) }
}

/** Our words are those of the protocol in small letters, and one more. */
function levelNamed(effort: Effort): Level {
  return effort.toUpperCase() as Level
}

/** The level of a session: the highest there is for what is beyond it. */
export function shownLevel(effort: Effort): Level {
  return effort === 'max' ? 'XHIGH' : levelNamed(effort)
}

export function effortOf(level: Level): Effort {
  return level.toLowerCase() as Lowercase<Level>
}

function knownOptions(provider: Provider): ModelOption[] {
  return KNOWN[provider].map(([id, name, contextWindow]) =>
    toldOption(provider, { id: nativeModel(provider, id)!, name, ...(contextWindow && { contextWindow }) }),
  )
}

function option(provider: Provider, id: string, label: string, description: string): ModelOption {
  return {
    id,
    provider,
    label,
    description,
    supportedThinkingLevels: [...LEVELS],
    defaultThinkingLevel: START_LEVEL,
    ...(provider === 'openrouter' && { routingProviders: [] }),
  }
}

/** A level that is not known becomes the one that the model starts with. */
export function levelOf(wanted: string, model: ModelOption): Level {
  const level = wanted.toUpperCase()
  return (
    model.supportedThinkingLevels?.find((one) => one === level) ?? model.defaultThinkingLevel ?? START_LEVEL
  )
}
