import type { Context } from './method.ts'
import { findSkills } from './skills.ts'
import { within } from './within.ts'

/** A daemon that is away keeps nobody from leaving. */
const LAST_MS = 2000

/** All that is not about one session. */
export async function snapshot({ choices, memory, sessions, cwd, home }: Context) {
  const [accounts, skills] = await Promise.all([choices.accounts(), findSkills(cwd, home)])
  const { model, thinking, routing, provider } = choices.selected()
  const ids = sessions.all.map(({ id }) => id)
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

/** Why this process ends, if that can still be told. */
export async function sayLast(context: Context, reason: string): Promise<void> {
  await within(LAST_MS, stateChanged(context, reason))
}
