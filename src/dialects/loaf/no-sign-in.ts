import type { SignIn } from './ports.ts'

const WHERE = 'sign in with the agent itself: codex login, gemini, opencode auth login, claude'

function unavailable(): Promise<never> {
  return Promise.reject(new Error(`sign-in is not available here; ${WHERE}`))
}

/** Where there is no sign-in of Corral's own, agents use the accounts that they have. */
export const NO_SIGN_IN: SignIn = {
  status: () =>
    Promise.resolve({
      openai: false,
      openrouter: false,
      antigravity: false,
      anthropic: false,
      profile: null,
    }),
  connect: unavailable,
  cancel: () => Promise.resolve(false),
  setKey: unavailable,
  limits: () => Promise.reject(new Error('limits requires at least one oauth provider')),
}
