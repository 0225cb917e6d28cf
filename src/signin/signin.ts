import { CorralError } from '../core/error.ts'
import { oneByOne } from '../core/one-by-one.ts'
import {
  KEY_NAMES,
  PROVIDERS,
  type KeyName,
  type Provider,
  type SignIn,
  type SignInStatus,
} from '../core/signin.ts'
import { createAccounts, secretOf, type Accounts } from './accounts.ts'
import { createFlows, type FlowsOptions } from './flows.ts'
import { isHeadless } from './headless.ts'
import type { Tokens } from './issuer.ts'
import { keychainOf } from './keychain.ts'
import { handOver, loginFileOf, takeBack } from './login-files.ts'
import { providerOf, type SignInSettings } from './provider.ts'
import { openSecrets, type Secrets } from './secrets.ts'

export interface SignInOptions {
  settings: SignInSettings & { keychain: boolean; timeoutMs: number }
  /** Where secrets are that no keychain takes, and what is known openly about all of them. */
  path: string
  /** Corral's data directory. */
  home: string
  env: NodeJS.ProcessEnv
  platform?: NodeJS.Platform
  newId: () => string
  /** Whether somebody has signed in to this agent without Corral; null: it cannot be told. */
  signedInItself(agent: string): Promise<boolean | null>
  /** What these agents are given has changed. */
  changed(agents: string[]): void
  notice(message: string): void
  sleep?: FlowsOptions['sleep']
}

export interface SignInParts extends SignIn {
  /** What an agent's process gets in its environment; asked when it starts. Never fails. */
  credentials(agent: string): Promise<Record<string, string>>
  /** The names of those variables. */
  variables(agent: string): string[]
  close(): Promise<void>
}

interface Receiver {
  keys: Partial<Record<KeyName, string>>
  account?: Provider
  /** A key would take the place of the account that it is signed in with. */
  ownFirst?: true
}

/** Who gets what, and how it is called there. */
const RECEIVERS: Readonly<Record<string, Receiver>> = {
  claude: { keys: { anthropic: 'ANTHROPIC_API_KEY' }, ownFirst: true },
  codex: { keys: {}, account: 'openai' },
  gemini: { keys: { gemini: 'GEMINI_API_KEY' }, account: 'antigravity', ownFirst: true },
  opencode: { keys: { openrouter: 'OPENROUTER_API_KEY', exa: 'EXA_API_KEY' } },
}

function receiversOf(name: Provider | KeyName): string[] {
  const receivers = Object.entries(RECEIVERS)
  return receivers.flatMap(([agent, { keys, account }]) => (name === account || name in keys ? [agent] : []))
}

export function createSignIn(options: SignInOptions): SignInParts {
  const { settings, env, platform = process.platform, notice } = options
  const secrets = openSecrets({
    path: options.path,
    keychain: keychainOf({ platform, env, home: options.home }),
    useKeychain: settings.keychain,
    notice,
  })
  const accounts = createAccounts(secrets, (provider) => providerOf(provider, settings))
  const logins = createLogins(accounts, env, notice)
  const flows = createFlows({
    settings: (provider) => providerOf(provider, settings),
    timeoutMs: settings.timeoutMs,
    newId: options.newId,
    async keep(account, grant) {
      await accounts.keep(account, grant)
      await logins.give(account.provider, () => Promise.resolve(grant.tokens))
      options.changed(receiversOf(account.provider))
    },
    ...(options.sleep && { sleep: options.sleep }),
  })

  async function signOut(provider: Provider) {
    for (const flow of flows.running()) if (flow.provider === provider) flows.cancel(flow.flowId)
    return logins.takeBack(provider, () => secrets.remove(secretOf(provider)))
  }

  return {
    status: () => ({ ...statusOf(secrets, accounts), flows: flows.running() }),
    start: ({ provider, mode = 'auto', headless = isHeadless(env, platform) }) =>
      flows.start({ provider, mode, headless }),
    flow: (flowId, { after = 0, waitMs = 0 } = {}) => flows.view(flowId, after, waitMs),
    cancel: (flowId) => flows.cancel(flowId),
    async setKey(name, key) {
      const kept = await secrets.set(name, checkedKey(key))
      options.changed(receiversOf(name))
      return kept
    },
    async forget(name) {
      const provider = PROVIDERS.find((one) => one === name)
      const done = provider
        ? await signOut(provider)
        : { forgotten: await secrets.remove(name), keptFile: null }
      if (done.forgotten) options.changed(receiversOf(name))
      return done
    },
    ...handOutTo(options, secrets, accounts, logins),
    close: flows.close,
  }
}

function statusOf(secrets: Secrets, accounts: Accounts): Omit<SignInStatus, 'flows'> {
  const places = new Map(secrets.list().map(({ name, place }) => [name, place]))
  return {
    accounts: PROVIDERS.flatMap((provider) => {
      const place = places.get(secretOf(provider))
      const { handedOver, ...account } = accounts.get(provider) ?? { handedOver: null }
      if (!place || !('provider' in account)) return []
      return [{ ...account, place, loginFile: handedOver?.path ?? null }]
    }),
    keys: KEY_NAMES.flatMap((name) => {
      const place = places.get(name)
      return place ? [{ name, place }] : []
    }),
  }
}

function checkedKey(given: string): string {
  const key = given.trim()
  if (key === '') throw new CorralError('invalid', 'The key is empty', { field: 'key' })
  if (!/\p{Cc}/u.test(key)) return key
  throw new CorralError('invalid', 'The key has characters in it that no key has', { field: 'key' })
}

type Logins = ReturnType<typeof createLogins>

/** Login files are written and taken back one after the other: what is signed out of leaves none. */
function createLogins(accounts: Accounts, env: NodeJS.ProcessEnv, notice: (message: string) => void) {
  const inTurn = oneByOne()

  async function write(provider: Provider, tokens: Tokens): Promise<void> {
    const account = accounts.get(provider)
    if (!account) return // somebody has signed out meanwhile
    const file = loginFileOf(provider, tokens, account.accountId, env)
    const written = file && (await handOver(file, account.handedOver))
    if (written) accounts.handedOver(provider, written)
    else if (file) notice(`${file.path} was left as it is: it is not Corral's`)
  }

  return {
    /** To the agent that wants it as a file of its own. That this fails costs the sign-in nothing. */
    async give(provider: Provider, get: () => Promise<Tokens | null>): Promise<void> {
      try {
        const tokens = await get()
        if (tokens) await inTurn(() => write(provider, tokens))
      } catch (error) {
        notice(`the account of ${provider} could not be given to its agent: ${wordsOf(error)}`)
      }
    },
    /** The file first: as long as that fails, it is known that there is one. */
    takeBack: (provider: Provider, forget: () => Promise<boolean>) =>
      inTurn(async () => {
        const file = accounts.get(provider)?.handedOver
        const keptFile = file ? await takeBack(file) : null
        return { forgotten: await forget(), keptFile }
      }),
  }
}

/** What agents get when they start. */
function handOutTo(
  { env, signedInItself, notice }: SignInOptions,
  secrets: Secrets,
  accounts: Accounts,
  logins: Logins,
): Pick<SignInParts, 'credentials' | 'variables'> {
  function namesFor(agent: string): [KeyName, string][] {
    const keys = Object.entries(RECEIVERS[agent]?.keys ?? {}) as [KeyName, string][]
    return keys.filter(([name, variable]) => secrets.has(name) && !env[variable])
  }

  async function keysFor(agent: string): Promise<Record<string, string>> {
    const names = namesFor(agent)
    if (names.length === 0) return {}
    if (RECEIVERS[agent]?.ownFirst && (await signedInItself(agent)) === true) return {}
    const pairs = await Promise.all(
      names.map(async ([name, variable]) => [variable, await secrets.get(name)]),
    )
    return Object.fromEntries(pairs.filter(([, value]) => value !== null)) as Record<string, string>
  }

  return {
    async credentials(agent) {
      try {
        const provider = RECEIVERS[agent]?.account
        const account = provider ? accounts.get(provider) : null
        // What was handed over once is the agent's: if it is gone, somebody has signed out there.
        if (provider && account && !account.handedOver && (await signedInItself(agent)) !== true) {
          await logins.give(provider, () => accounts.fresh(provider))
        }
        return await keysFor(agent)
      } catch (error) {
        notice(`${agent} starts without what was signed in with: ${wordsOf(error)}`)
        return {}
      }
    },
    variables: (agent) => namesFor(agent).map(([, variable]) => variable),
  }
}

/** Only our own words, and the names of the system's errors: others may quote a secret. */
function wordsOf(error: unknown): string {
  if (error instanceof CorralError) return error.message
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}
