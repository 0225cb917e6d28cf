import { failure } from './errors.ts'
import type { Effort } from '../../core/effort.ts'
import { AGENT_OF, effortOf, levelOf, modelsOf, PROVIDERS, START_LEVEL } from './models.ts'
import type { Level, Provider } from './models.ts'
import type { AgentView, Corral, SignedIn, SignIn } from './ports.ts'
import type { ModelOption } from './wire.ts'

/** A model that was chosen; an empty one is none. */
export interface Choice {
  model: string
  provider: Provider | null
  thinking: Level
  /** The same for the agent; null: it cannot be told. */
  effort: Effort | null
  routing: string
}

export const NOTHING: Choice = {
  model: '',
  provider: null,
  thinking: START_LEVEL,
  effort: null,
  routing: 'any',
}

export interface Wish {
  model: string
  provider: Provider
  thinking: string
  routing: string | undefined
}

export interface Accounts extends SignedIn {
  enabled: Provider[]
}

/** Which models there are and which are chosen: for this process, and for single sessions. */
export interface Choices {
  selected(sessionId?: string): Choice
  /** Without a session, for all that have no choice of their own. */
  select(wish: Wish, sessionIds: (string | undefined)[]): Promise<Choice>
  /** `told`: by the agent itself. */
  models(provider: Provider): Promise<{ models: ModelOption[]; told: boolean; effort: boolean }>
  accounts(): Promise<Accounts>
  forget(): void
}

export function createChoices({ corral, signIn }: { corral: Corral; signIn: SignIn }): Choices {
  const ofSessions = new Map<string, Choice>()
  let ofProcess = NOTHING

  const models: Choices['models'] = async (provider) => {
    const known = await corral.models(AGENT_OF[provider])
    return { models: modelsOf(provider, known), told: known.told.length > 0, effort: known.effort }
  }

  return {
    selected: (sessionId) => (sessionId === undefined ? undefined : ofSessions.get(sessionId)) ?? ofProcess,
    models,
    async select({ model: id, provider, thinking, routing }, sessionIds) {
      const known = await models(provider)
      const model = known.models.find((one) => one.id === id)
      if (!model) throw failure(`unknown model for provider ${provider}: ${id}`, 'unknown_model')
      const level = levelOf(thinking, model)
      const effort = known.effort ? effortOf(level) : null
      const choice = { model: id, provider, thinking: level, effort, routing: routing ?? 'any' }
      for (const sessionId of sessionIds) {
        if (sessionId === undefined) ofProcess = choice
        else ofSessions.set(sessionId, choice)
      }
      return choice
    },
    async accounts() {
      const [held, agents] = await Promise.all([signIn.status(), corral.agents()])
      const isIn = (provider: 'openai' | 'openrouter' | 'antigravity' | 'anthropic'): boolean =>
        held[provider] || agentOf(agents, provider)?.signedIn === true
      const enabled = PROVIDERS.filter((provider) => isEnabled(provider, agents, held))
      return {
        openai: isIn('openai'),
        openrouter: isIn('openrouter'),
        antigravity: isIn('antigravity'),
        anthropic: isIn('anthropic'),
        profile: held.profile,
        enabled: enabled.length > 0 ? enabled : ['demo'],
      }
    },
    forget() {
      ofSessions.clear()
      ofProcess = NOTHING
    },
  }
}

function agentOf(agents: readonly AgentView[], provider: Provider): AgentView | undefined {
  return agents.find(({ name }) => name === AGENT_OF[provider])
}

/** Its agent is there, and is not known to be without an account. The demo agent is for when there is no other. */
function isEnabled(provider: Provider, agents: readonly AgentView[], held: SignedIn): boolean {
  const agent = agentOf(agents, provider)
  if (!agent?.installed || provider === 'demo') return false
  return agent.signedIn !== false || held[provider]
}

/** A choice as answers have it. */
export function choiceFields({ model, provider, thinking, routing }: Choice) {
  return {
    selected_model: model,
    selected_provider: provider,
    selected_thinking: thinking,
    selected_openrouter_provider: routing,
  }
}
