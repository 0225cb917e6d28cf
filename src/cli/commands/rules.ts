import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Api, NativeClient } from '../../dialects/native/client.ts'
import { text, type Cli, type Command, type Options } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, duration, shortId } from '../format.ts'
import { wholeNumber } from '../options.ts'
import { resolveSession } from '../resolve.ts'

type Rules = Api['session.get']['result']['rules']

/** Whose rules: of one session, or of every session in a directory. */
interface Holder {
  name: string
  /** Of a session. */
  agent: { agent?: string }
  rules: Rules
  change(rules: Partial<Rules>): Promise<Rules>
}

const NONE: Rules = { allow: [], deny: [], acceptEdits: false, skipUntil: null }

export const rules: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const directory = text(cli.options['project'])
    if ((directory === undefined) === (fragment === undefined))
      throw new CliError('whose rules? give a session, or --project and a directory', EXIT.usage)
    const holder =
      directory === undefined
        ? await ofSession(client, String(fragment))
        : await ofProject(client, resolve(directory))
    const changes = changesOf(cli.options, holder.rules)
    const now = Object.keys(changes).length > 0 ? await holder.change(changes) : holder.rules
    if (cli.json) cli.printJson(now)
    else show(cli, holder.name, now)
    const { warnings } = await client.call('rules.check', { rules: now, ...holder.agent })
    for (const { rule, message } of warnings)
      cli.note(cli.paint('yellow', `${clean(rule)}: ${clean(message)}`))
  })

async function ofSession(client: NativeClient, fragment: string): Promise<Holder> {
  const sessionId = await resolveSession(client, fragment)
  const { rules: before, agent } = await client.call('session.get', { sessionId })
  return {
    name: `session ${shortId(sessionId)}`,
    agent: { agent },
    rules: before,
    change: async (changed) => (await client.call('session.configure', { sessionId, rules: changed })).rules,
  }
}

async function ofProject(client: NativeClient, path: string): Promise<Holder> {
  const { directories } = await client.call('directory.list')
  return {
    name: `${path} and below`,
    agent: {},
    rules: directories.find((directory) => directory.path === path)?.rules ?? NONE,
    change: async (changed) => (await client.call('directory.configure', { path, rules: changed })).rules,
  }
}

/** As a shell would have it, if the quotes were not there. */
function withHome(rule: string): string {
  return rule.replace('(~/', () => `(${homedir()}/`)
}

function changesOf(options: Options, { allow, deny }: Rules): Partial<Rules> {
  const list = (name: string): string[] => ((options[name] ?? []) as string[]).map(withHome)
  const unwanted = new Set(list('remove'))
  const edited = (old: readonly string[], more: string[]): string[] =>
    [...new Set([...old, ...more])].filter((rule) => !unwanted.has(rule))
  for (const rule of unwanted) {
    if (!allow.includes(rule) && !deny.includes(rule)) throw new CliError(`there is no rule ${rule}`)
  }
  const minutes = wholeNumber(options, 'skip', -1)
  return {
    ...((list('allow').length > 0 || unwanted.size > 0) && { allow: edited(allow, list('allow')) }),
    ...((list('deny').length > 0 || unwanted.size > 0) && { deny: edited(deny, list('deny')) }),
    ...(typeof options['acceptEdits'] === 'boolean' && { acceptEdits: options['acceptEdits'] }),
    ...(minutes >= 0 && { skipUntil: minutes === 0 ? null : Date.now() + minutes * 60_000 }),
  }
}

function show(cli: Cli, name: string, { allow, deny, acceptEdits, skipUntil }: Rules): void {
  const left = skipUntil === null ? 0 : skipUntil - Date.now()
  const lines = [
    ...deny.map((rule) => `never   ${clean(rule)}`),
    ...allow.map((rule) => `always  ${clean(rule)}`),
    ...(acceptEdits ? ['always  edits of files'] : []),
    ...(left > 0 ? [`always  everything, for another ${duration(left)}`] : []),
  ]
  cli.print(cli.paint('bold', name))
  cli.print(lines.length > 0 ? lines.join('\n') : 'no rules: the mode decides, else you are asked')
}
