import type { Context } from './context.ts'
import { findSkills } from './skills.ts'

/** All that is not about one session. */
export async function snapshot({ choices, memory, rooms, cwd, home }: Context) {
  const [accounts, skills] = await Promise.all([choices.accounts(), findSkills(cwd, home)])
  const { model, thinking, routing, provider } = choices.selected()
  const ids = rooms.all.map(({ id }) => id)
  return {
    auth: {
      enabledProviders: accounts.enabled,
      hasOpenAiToken: accounts.openai,
      hasOpenRouterKey: accounts.openrouter,
      hasAntigravityToken: accounts.antigravity,
      hasAnthropicKey: accounts.anthropic,
      antigravityProfile: accounts.profile,
    },
    onboarding: { completed: memory.onboarded() },
    model: {
      selectedModel: model,
      selectedThinking: thinking,
      selectedOpenRouterProvider: routing,
      selectedProvider: provider,
    },
    sessions: { count: ids.length, ids },
    skills: { count: skills.skills.length, directories: skills.directories },
  }
}

export async function stateChanged(context: Context, reason: string, sessionId?: string): Promise<void> {
  context.output.event('state.changed', {
    reason,
    snapshot: await snapshot(context),
    ...(sessionId !== undefined && { session_id: sessionId }),
  })
}
