import type { AgentModel } from '../core/event.ts'

/** A model that answers may be asked of. */
export interface ModelEntry {
  id: string
  name: string
  ownedBy: string
  /** In tokens; null: nobody has said. */
  contextWindow: number | null
}

interface ModelSources {
  agent: string
  /** What the agent has told of. */
  told: readonly AgentModel[]
  upstreams: readonly { model?: string | undefined; models?: Record<string, string> | undefined }[]
  /** Names that have a price of the user's own. */
  priced: readonly string[]
}

/** Names that programs for this relay are written with. Every agent answers to them: with that model, or with its own. */
const RECOMMENDED = ['claude-sonnet-4-6', 'claude-opus-4-6', 'claude-haiku-4-5', 'gpt-4o']

/** The agent's own models first, then names that work as well. */
export function modelsOf({ agent, told, upstreams, priced }: ModelSources): ModelEntry[] {
  const own = told.map(({ id, name, contextWindow = null }) => ({
    id,
    name: name || id,
    ownedBy: OWNERS[agent] ?? ownerOf(id),
    contextWindow,
  }))
  const mapped = upstreams.flatMap(({ model, models = {} }) => [
    ...(model ? [model] : []),
    ...Object.keys(models),
  ])
  const known = new Set(own.map(({ id }) => id))
  const others = [...new Set([...RECOMMENDED, ...priced, ...mapped])].filter((id) => !known.has(id))
  return [...own, ...others.map(named)]
}

/** Versions of Claude's families (`claude-sonnet-4-20250514`) are other names of what is listed. */
export function findModel(models: readonly ModelEntry[], id: string): ModelEntry | null {
  const listed = models.find((model) => model.id === id)
  return listed ?? (/^claude-.*(opus|sonnet|haiku)/.test(id) ? named(id) : null)
}

export function named(id: string): ModelEntry {
  return { id, name: id, ownedBy: ownerOf(id), contextWindow: null }
}

/** Whose models an agent has, where they are all of one maker. */
const OWNERS: Readonly<Record<string, string>> = { claude: 'anthropic', codex: 'openai', gemini: 'google' }

function ownerOf(id: string): string {
  if (id.startsWith('claude')) return 'anthropic'
  return /^(gpt|chatgpt|codex|o\d)/.test(id) ? 'openai' : 'local'
}
