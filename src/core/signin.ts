/** Signing in to the services that agents use: the words for it, and what clients may ask for. */

/** Services with accounts: one signs in. */
export const PROVIDERS = ['openai', 'antigravity'] as const
export type Provider = (typeof PROVIDERS)[number]

/** Services with keys: one gives Corral the key. */
export const KEY_NAMES = ['anthropic', 'exa', 'gemini', 'openrouter'] as const
export type KeyName = (typeof KEY_NAMES)[number]

export const SIGN_IN_MODES = ['auto', 'browser', 'device_code'] as const
export type SignInMode = (typeof SIGN_IN_MODES)[number]
export type LoginMethod = Exclude<SignInMode, 'auto'>

/** Where a secret is: in the operating system's keychain, or in a file that only its owner reads. */
export type SecretPlace = 'keychain' | 'file'

export interface Profile {
  email: string | null
  name: string | null
  picture?: string
}

/** Who has signed in; nothing in it is secret. */
export interface Account {
  provider: Provider
  accountId: string | null
  profile: Profile | null
  loginMethod: LoginMethod
  signedInAt: number
}

export type FlowStep =
  | { type: 'started' }
  | { type: 'url'; url: string }
  | {
      type: 'device_code'
      verificationUrl: string
      userCode: string
      intervalSeconds: number
      expiresInSeconds: number
    }
  | { type: 'completed'; loginMethod: LoginMethod; accountId: string | null; profile: Profile | null }
  | { type: 'failed'; message: string; cancelled: boolean }

/** `index` counts the events of one flow from 1. */
export type FlowEvent = FlowStep & { flowId: string; provider: Provider; index: number; at: number }

export interface FlowView {
  flowId: string
  provider: Provider
  state: 'running' | 'completed' | 'failed'
  events: FlowEvent[]
}

export interface Kept {
  place: SecretPlace
  /** Why it is not in the keychain; null when it is, or when nobody wants it there. */
  why: string | null
}

export interface SignInStatus {
  accounts: (Account & { place: SecretPlace; loginFile: string | null })[]
  keys: { name: KeyName; place: SecretPlace }[]
  /** Flows under way. */
  flows: { flowId: string; provider: Provider }[]
}

export interface SignIn {
  status(): SignInStatus
  /**
   * One flow at a time for each provider: a second start joins the first, unless it asks for another way; then it takes its
   * place. `headless`: whoever signs in has no browser on this machine.
   */
  start(request: { provider: Provider; mode?: SignInMode; headless?: boolean }): {
    flowId: string
    joined: boolean
  }
  /** The events after `after`; waits for the next one, at the most so long. */
  flow(flowId: string, options?: { after?: number; waitMs?: number }): Promise<FlowView>
  /** False when it was over already. */
  cancel(flowId: string): boolean
  setKey(name: KeyName, key: string): Promise<Kept>
  /** `keptFile`: the agent's login file that was left alone, since it is not as Corral wrote it. */
  forget(name: Provider | KeyName): Promise<{ forgotten: boolean; keptFile: string | null }>
}
