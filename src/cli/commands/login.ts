import { createInterface } from 'node:readline/promises'
import { text as readAll } from 'node:stream/consumers'
import { Writable } from 'node:stream'
import { KEY_NAMES, PROVIDERS, type KeyName, type Provider, type SignInMode } from '../../core/signin.ts'
import type { Api, NativeClient } from '../../client/client.ts'
import { isHeadless } from '../../signin/headless.ts'
import type { Cli, Command, Options } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, duration, table } from '../format.ts'

type Status = Api['signin.status']['result']
type Event = Api['signin.flow']['result']['events'][number]

/** The daemon notices that a login was killed when it answers: so long its port stays taken at the most. */
const WAIT_MS = 5000

export const login: Command = (cli, [name]) =>
  cli.withDaemon(async (client) => {
    if (name === undefined) return list(cli, [])
    if (isKeyName(name)) return giveKey(cli, client, name)
    if (isProvider(name)) return signIn(cli, client, name)
    throw unknown(name)
  })

export const logout: Command = (cli, [name]) =>
  cli.withDaemon(async (client) => {
    if (!isKeyName(name) && !isProvider(name)) throw unknown(name)
    const { forgotten, keptFile } = await client.call('signin.forget', { name })
    if (cli.json) return cli.printJson({ forgotten, keptFile })
    const what = isKeyName(name) ? `the key of ${name}` : `the account of ${name}`
    cli.print(forgotten ? `removed ${what}` : `Corral did not have ${what}`)
    if (keptFile !== null) {
      cli.note(`${clean(keptFile)} was kept, since the agent has changed it; sign out with the agent itself`)
    }
  })

function isKeyName(name: unknown): name is KeyName {
  return KEY_NAMES.some((one) => one === name)
}

function isProvider(name: unknown): name is Provider {
  return PROVIDERS.some((one) => one === name)
}

function unknown(name: unknown): CliError {
  const accounts = PROVIDERS.join(', ')
  const keys = KEY_NAMES.join(', ')
  return new CliError(
    `unknown service ${clean(String(name))}; Corral keeps accounts of ${accounts} and keys of ${keys}`,
    EXIT.usage,
  )
}

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => print(cli, await client.call('signin.status')))

function print(cli: Cli, { accounts, keys }: Status): void {
  if (cli.json) return [...accounts, ...keys].forEach(cli.printJson)
  if (accounts.length + keys.length === 0) {
    const services = [...PROVIDERS, ...KEY_NAMES].join(', ')
    return cli.note(`Corral keeps no account or key yet; add one with: corral login SERVICE (${services})`)
  }
  const rows = [
    ...accounts.map(({ provider, profile, accountId, signedInAt, place }) => [
      cli.paint('bold', provider),
      clean(profile?.email ?? profile?.name ?? accountId ?? ''),
      `${duration(Date.now() - signedInAt)} ago`,
      placeWords(place),
    ]),
    ...keys.map(({ name, place }) => [cli.paint('bold', name), 'key', '', placeWords(place)]),
  ]
  cli.print(table(rows))
}

function placeWords(place: 'keychain' | 'file'): string {
  return place === 'keychain' ? 'in the keychain' : 'in a file'
}

/** Only from stdin: every user of the machine can read the arguments of a process. */
async function giveKey(cli: Cli, client: NativeClient, name: KeyName): Promise<void> {
  const key = (cli.interactive ? await typed(cli, `key of ${name}: `) : await readAll(cli.stdin)).trim()
  if (key === '')
    throw new CliError(
      `no key was given; write it to stdin, as in: corral login ${name} < key.txt`,
      EXIT.usage,
    )
  const { place, why } = await client.call('signin.setKey', { name, key })
  if (cli.json) return cli.printJson({ name, place, why })
  cli.print(`the key of ${name} is kept ${placeWords(place)}`)
  if (why !== null) cli.note(clean(why))
}

/** Reads a line without showing it. */
async function typed(cli: Cli, prompt: string): Promise<string> {
  const nowhere = new Writable({ write: (_, __, done) => done() })
  const lines = createInterface({ input: cli.stdin, output: nowhere, terminal: true })
  process.stderr.write(prompt) // from here on the terminal itself shows nothing either
  try {
    return await lines.question('')
  } catch {
    throw new CliError('cancelled; no key was stored', EXIT.left)
  } finally {
    lines.close()
    cli.note('')
  }
}

async function signIn(cli: Cli, client: NativeClient, provider: Provider): Promise<number> {
  const mode = modeOf(cli.options)
  const headless = isHeadless(cli.env)
  const { flowId, joined } = await client.call('signin.start', {
    provider,
    mode,
    headless,
    attended: true,
  })
  if (joined && !cli.json) cli.note('a sign-in for this service is already running; following it')
  let left = false
  const leave = (): void => {
    left = true
    // Somebody else has started it, and may still want it.
    if (joined) process.exit(EXIT.left)
    void client.call('signin.cancel', { flowId }).catch(() => process.exit(EXIT.left))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, leave)
  try {
    const end = await follow(cli, client, flowId)
    if (end?.type === 'completed') return EXIT.ok
    throw new CliError(`not signed in: ${end?.message ?? 'it ended'}`, left ? EXIT.left : EXIT.error)
  } finally {
    for (const signal of signals) process.off(signal, leave)
  }
}

function modeOf({ browser, code }: Options): SignInMode {
  if (browser && code) throw new CliError('give either --browser or --code, not both', EXIT.usage)
  if (browser) return 'browser'
  return code ? 'device_code' : 'auto'
}

type End = Extract<Event, { type: 'completed' | 'failed' }>

async function follow(cli: Cli, client: NativeClient, flowId: string): Promise<End | null> {
  for (let after = 0; ;) {
    const { events, state } = await client.call('signin.flow', { flowId, after, waitMs: WAIT_MS })
    for (const event of events) {
      if (cli.json) cli.printJson(event)
      else tell(cli, event)
      if (event.type === 'completed' || event.type === 'failed') return event
    }
    if (state !== 'running') return null
    after += events.length
  }
}

function tell(cli: Cli, event: Event): void {
  switch (event.type) {
    case 'url':
      return cli.print(`open  ${clean(event.url)}`)
    case 'device_code':
      cli.print(`code  ${cli.paint('bold', clean(event.userCode))}`)
      return cli.print(`enter it at ${clean(event.verificationUrl)} on any device`)
    case 'completed':
      return cli.print(`signed in${as(event)}`)
    case 'started':
    case 'failed':
  }
}

function as({ profile, accountId }: Extract<Event, { type: 'completed' }>): string {
  const who = profile?.email ?? profile?.name ?? accountId
  return who === null ? '' : ` as ${clean(who)}`
}
