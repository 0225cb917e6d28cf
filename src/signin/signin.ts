import { CorralError } from '../core/error.ts'
import { oneByOne } from '../core/one-by-one.ts'
import { KEY_NAMES, PROVIDERS, type KeyName, type Provider, type SignIn } from '../core/signin.ts'
import { createAccounts, secretOf } from './accounts.ts'
import { createFlows, type FlowsOptions } from './flows.ts'
import { isHeadless } from './headless.ts'
import type { Tokens } from './issuer.ts'
import { keychainOf } from './keychain.ts'
import { handOver, loginFileOf, takeBack } from './login-files.ts'
import { providerOf, type SignInSettings } from './provider.ts'
import { openSecrets } from './secrets.ts'

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
  /** Login files are written and taken back one after the other: what is signed out of leaves none. */
  const inTurn = oneByOne()
  const accounts = createAccounts(secrets, (provider) => providerOf(provider, settings))
  const flows = createFlows({
    settings: (provider) => providerOf(provider, settings),
    timeoutMs: settings.timeoutMs,
    newId: options.newId,
    async keep(account, grant) {
      await accounts.keep(account, grant)
      await giveAccount(account.provider, () => Promise.resolve(grant.tokens))
      options.changed(receiversOf(account.provider))
    },
    ...(options.sleep && { sleep: options.sleep }),
  })

  /** To the agent that wants it as a file of its own. That this fails costs the sign-in nothing. */
  async function giveAccount(provider: Provider, get: () => Promise<Tokens | null>): Promise<void> {
    try {
      const tokens = await get()
      if (tokens) await inTurn(() => writeLogin(provider, tokens))
    } catch (error) {
      notice(`the account of ${provider} could not be given to its agent: ${wordsOf(error)}`)
    }
  }

  async function writeLogin(provider: Provider, tokens: Tokens): Promise<void> {
    const account = accounts.get(provider)
    if (!account) return // somebody has signed out meanwhile
    const file = loginFileOf(provider, tokens, account.accountId, env)
    const written = file && (await handOver(file, account.handedOver))
    if (written) accounts.handedOver(provider, written)
    else if (file) notice(`${file.path} was left as it is: it is not Corral's`)
  }

  /** The file first: as long as that fails, it is known that there is one. */
  async function signOut(provider: Provider) {
    const file = accounts.get(provider)?.handedOver
    const keptFile = file ? await takeBack(file) : null
    return { forgotten: await secrets.remove(secretOf(provider)), keptFile }
  }

  function namesFor(agent: string): [KeyName, string][] {
    const keys = Object.entries(RECEIVERS[agent]?.keys ?? {}) as [KeyName, string][]
    return keys.filter(([name, variable]) => secrets.has(name) && !env[variable])
  }

  async function keysFor(agent: string): Promise<Record<string, string>> {
    const names = namesFor(agent)
    if (names.length === 0) return {}
    if (RECEIVERS[agent]?.ownFirst && (await options.signedInItself(agent)) === true) return {}
    const pairs = await Promise.all(
      names.map(async ([name, variable]) => [variable, await secrets.get(name)]),
    )
    return Object.fromEntries(pairs.filter(([, value]) => value !== null)) as Record<string, string>
  }

  return {
    status: () => ({
      accounts: PROVIDERS.flatMap((provider) => {
        const entry = secrets.list().find(({ name }) => name === secretOf(provider))
        const { handedOver, ...account } = accounts.get(provider) ?? { handedOver: null }
        if (!entry || !('provider' in account)) return []
        return [{ ...account, place: entry.place, loginFile: handedOver?.path ?? null }]
      }),
      keys: KEY_NAMES.flatMap((key) =>
        secrets.list().flatMap(({ name, place }) => (name === key ? [{ name: key, place }] : [])),
      ),
      flows: flows.running(),
    }),
    start: ({ provider, mode = 'auto', headless = isHeadless(env, platform) }) =>
      flows.start({ provider, mode, headless }),
    flow: (flowId, { after = 0, waitMs = 0 } = {}) => flows.view(flowId, after, waitMs),
    cancel: (flowId) => flows.cancel(flowId),
    async setKey(name, key) {
      if (key.trim() === '') throw new CorralError('invalid', 'The key is empty', { field: 'key' })
      if (/\p{Cc}/u.test(key.trim())) {
        throw new CorralError('invalid', 'The key has characters in it that no key has', { field: 'key' })
      }
      const kept = await secrets.set(name, key.trim())
      options.changed(receiversOf(name))
      return kept
    },
    async forget(name) {
      const provider = PROVIDERS.find((one) => one === name)
      if (!provider) {
        const forgotten = await secrets.remove(name)
        if (forgotten) options.changed(receiversOf(name))
        return { forgotten, keptFile: null }
      }
      for (const flow of flows.running()) if (flow.provider === provider) flows.cancel(flow.flowId)
      const done = await inTurn(() => signOut(provider))
      if (done.forgotten) options.changed(receiversOf(name))
      return done
    },
    async credentials(agent) {
      try {
        const provider = RECEIVERS[agent]?.account
        const account = provider ? accounts.get(provider) : null
        // What was handed over once is the agent's: if it is gone, somebody has signed out there.
        if (provider && account && !account.handedOver && (await isFree(agent))) {
          await giveAccount(provider, () => accounts.fresh(provider))
        }
        return await keysFor(agent)
      } catch (error) {
        notice(`${agent} starts without what was signed in with: ${wordsOf(error)}`)
        return {}
      }
    },
    variables: (agent) => namesFor(agent).map(([, variable]) => variable),
    close: flows.close,
  }

  /** Nobody has signed in there by other means. */
  async function isFree(agent: string): Promise<boolean> {
    return (await options.signedInItself(agent)) !== true
  }
}

/** Only our own words, and the names of the system's errors: others may quote a secret. */
function wordsOf(error: unknown): string {
  if (error instanceof CorralError) return error.message
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}
