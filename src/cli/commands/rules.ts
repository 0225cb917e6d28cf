import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Api, NativeClient } from '../../client/client.ts'
import { text, type Cli, type Command, type Options } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, duration, exactLine, shortId } from '../format.ts'
import { wholeNumber } from '../options.ts'
import { resolveSession } from '../find-session.ts'

type Rules = Api['session.get']['result']['rules']

/** What has rules: one session, or a directory for every session in it. */
interface Holder {
  name: string
  /** Only a session has an agent. */
  agent: { agent?: string }
  rules: Rules
  change(rules: Partial<Rules>): Promise<Rules>
}

const NONE: Rules = { allow: [], deny: [], acceptEdits: false, skipUntil: null }

/** The rules of one session or directory, or of every directory that has some. */
export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const session = text(cli.options['session'])
    if (session !== undefined || directoryOf(cli) !== undefined) {
      return show(cli, client, await holderOf(cli, client, session))
    }
    const { directories } = await client.call('directory.list')
    if (cli.json) return directories.forEach(cli.printJson)
    if (directories.length === 0) return cli.note('no directory has rules; add one with: corral rule add')
    for (const { path, rules } of directories) print(cli, directoryName(path), rules)
  })

export const add = changing((cli, [words]) => ({ [cli.options['deny'] === true ? 'deny' : 'allow']: words }))
export const remove = changing((_, [words]) => ({ remove: words }))
export const set = changing(({ options }) => {
  if (options['acceptEdits'] !== undefined || options['skip'] !== undefined) return options
  throw new CliError('nothing to change; give --accept-edits, --no-accept-edits or --skip', EXIT.usage)
})

/** A command that changes rules and prints them; the changes are spelled like the old options. */
function changing(wishesOf: (cli: Cli, args: readonly unknown[]) => Options): Command {
  return (cli, args) =>
    cli.withDaemon(async (client) => {
      const holder = await holderOf(cli, client, text(cli.options['session']))
      await change(cli, client, holder, wishesOf(cli, args))
    })
}

/** `corral rules SESSION`, with the verbs as options. */
export const bare: Command = (cli, [session]) =>
  cli.withDaemon(async (client) => {
    await change(cli, client, await holderOf(cli, client, text(session)), cli.options)
  })

async function change(cli: Cli, client: NativeClient, holder: Holder, wishes: Options): Promise<void> {
  const changes = changesOf(wishes, holder.rules)
  const rules = Object.keys(changes).length > 0 ? await holder.change(changes) : holder.rules
  await show(cli, client, { ...holder, rules })
}

async function show(cli: Cli, client: NativeClient, { name, agent, rules }: Holder): Promise<void> {
  if (cli.json) cli.printJson(rules)
  else print(cli, name, rules)
  const { warnings } = await client.call('rules.check', { rules, ...agent })
  for (const { rule, message } of warnings) {
    cli.note(cli.paint('yellow', `${exactLine(rule)}: ${clean(message)}`))
  }
}

async function holderOf(cli: Cli, client: NativeClient, session?: string): Promise<Holder> {
  const directory = directoryOf(cli)
  if (session !== undefined && directory === undefined) return ofSession(cli, client, session)
  if (session === undefined && directory !== undefined) return ofDirectory(client, realPath(directory))
  throw new CliError('say whose rules; give either --session ID or --directory DIRECTORY', EXIT.usage)
}

/** `--project` is the older name. */
function directoryOf({ options }: Cli): string | undefined {
  return text(options['directory']) ?? text(options['project'])
}

/** The daemon keeps rules by where a directory really is. */
function realPath(directory: string): string {
  const path = resolve(directory)
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

async function ofSession(cli: Cli, client: NativeClient, fragment: string): Promise<Holder> {
  const sessionId = await resolveSession(cli, client, fragment)
  const { rules: before, agent } = await client.call('session.get', { sessionId })
  return {
    name: `session ${shortId(sessionId)}`,
    agent: { agent },
    rules: before,
    change: async (changed) => (await client.call('session.configure', { sessionId, rules: changed })).rules,
  }
}

async function ofDirectory(client: NativeClient, path: string): Promise<Holder> {
  const { directories } = await client.call('directory.list')
  return {
    name: directoryName(path),
    agent: {},
    rules: directories.find((directory) => directory.path === path)?.rules ?? NONE,
    change: async (changed) => (await client.call('directory.configure', { path, rules: changed })).rules,
  }
}

function directoryName(path: string): string {
  return `${exactLine(path)} and below`
}

/** The shell does not expand `~` inside the quotes that rules need. */
function withHome(rule: string): string {
  return rule.replace('(~/', () => `(${homedir()}/`)
}

function changesOf(options: Options, { allow, deny }: Rules): Partial<Rules> {
  const list = (name: string): string[] => ((options[name] ?? []) as string[]).map(withHome)
  const unwanted = new Set(list('remove'))
  if ([...list('allow'), ...list('deny')].some((rule) => rule.trim() === ''))
    throw new CliError('the rule is empty; write one as in shell(npm test*)', EXIT.usage)
  const edited = (old: readonly string[], more: string[]): string[] =>
    [...new Set([...old, ...more])].filter((rule) => !unwanted.has(rule))
  for (const rule of unwanted) {
    if (!allow.includes(rule) && !deny.includes(rule))
      throw new CliError(`there is no rule ${rule}; corral rule ls lists them`)
  }
  const minutes = wholeNumber(options, 'skip', -1)
  return {
    ...((list('allow').length > 0 || unwanted.size > 0) && { allow: edited(allow, list('allow')) }),
    ...((list('deny').length > 0 || unwanted.size > 0) && { deny: edited(deny, list('deny')) }),
    ...(typeof options['acceptEdits'] === 'boolean' && { acceptEdits: options['acceptEdits'] }),
    ...(minutes >= 0 && { skipUntil: minutes === 0 ? null : Date.now() + minutes * 60_000 }),
  }
}

function print(cli: Cli, name: string, { allow, deny, acceptEdits, skipUntil }: Rules): void {
  const left = skipUntil === null ? 0 : skipUntil - Date.now()
  const lines = [
    ...deny.map((rule) => `deny   ${exactLine(rule)}`),
    ...allow.map((rule) => `allow  ${exactLine(rule)}`),
    ...(acceptEdits ? ['allow  edits of files'] : []),
    ...(left > 0 ? [`allow  everything for another ${duration(left)}`] : []),
  ]
  cli.print(cli.paint('bold', name))
  cli.print(lines.length > 0 ? lines.join('\n') : 'no rules; the mode of the session decides')
}
