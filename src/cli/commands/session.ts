import { uuid } from '../../core/ids.ts'
import type { NativeClient } from '../../client/client.ts'
import type { SessionView } from '../../dialects/native/wire.ts'
import { given, text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { ago, clean, fields, oneLine, sessionName, shortId } from '../format.ts'
import { noteSession } from '../last-session.ts'
import { setup, wholeNumber } from '../options.ts'
import { PAGE, readPast } from '../past.ts'
import { renderItems, usageText } from '../render.ts'
import { resolveSession } from '../find-session.ts'
import { sessionTable, stateOf, wantedStates } from '../session-list.ts'

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const wanted = wholeNumber(cli.options, 'limit', 50)
    const agent = text(cli.options['agent'])
    const archived = cli.options['archived'] === true
    const states = wantedStates(cli)
    const which = { archived, ...(agent !== undefined && { agent }) }
    const machine = text(cli.options['on'])
    const fits = (session: SessionView): boolean =>
      (!states || states.has(stateOf(session))) && (machine === undefined || session.machine === machine)
    const isFiltered = states !== null || machine !== undefined
    const sessions = await collect(client, wanted, which, isFiltered ? fits : null)
    if (cli.json) return sessions.forEach(cli.printJson)
    if (cli.options['quiet']) return sessions.forEach((session) => cli.print(session.id))
    if (cli.options['titles'])
      return sessions.forEach((session) =>
        cli.print(`${shortId(session.id)}\t${oneLine(sessionName(session), 60)}`),
      )
    if (wanted === 0) return
    if (sessions.length === 0 && machine !== undefined)
      return cli.note(`no such session is on ${clean(machine)}`)
    if (sessions.length === 0 && states)
      return cli.note(
        `no session is ${[...states].join(' or ').replace('-', ' ').replace('needs you', 'waiting for you')}`,
      )
    if (sessions.length === 0 && agent !== undefined)
      return cli.note(`no session uses the agent ${clean(agent)}`)
    if (sessions.length === 0 && archived) return cli.note('no session is archived')
    if (sessions.length === 0) return cli.note('no sessions yet; start one with: corral new "…"')
    cli.print(sessionTable(cli, sessions))
  })

async function collect(
  client: NativeClient,
  wanted: number,
  which: { archived: boolean; agent?: string },
  fits: ((session: SessionView) => boolean) | null,
): Promise<SessionView[]> {
  const found: SessionView[] = []
  let cursor: string | null = null
  while (found.length < wanted) {
    const limit = fits ? PAGE : Math.min(PAGE, wanted - found.length)
    const page: { sessions: SessionView[]; next: string | null } = await client.call('session.list', {
      limit,
      ...which,
      ...(cursor !== null && { cursor }),
    })
    found.push(...(fits ? page.sessions.filter(fits) : page.sessions))
    cursor = page.next
    if (cursor === null) break
  }
  return found.slice(0, wanted)
}

export const show: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(cli, client, String(fragment))
    const session = await client.call('session.get', { sessionId })
    if (cli.json) return cli.printJson(session)
    cli.print(fields(cli.paint, detailsOf(session)))
  })

function detailsOf(session: SessionView): [name: string, value: string][] {
  const { status, usage } = session
  const count = (number: number): string => (number > 0 ? String(number) : '')
  return [
    ['id', session.id],
    ['title', oneLine(session.name ?? '', 200)],
    ['status', session.archived ? `${status}, archived` : status],
    ['agent', clean(session.agent)],
    ['mode', session.mode],
    ['model', clean(session.modelInUse ?? session.model ?? '')],
    ['effort', session.effort ?? ''],
    ['directory', oneLine(session.cwd, 1000)],
    ['forked from', session.parentId ?? ''],
    ['started', ago(session.createdAt)],
    ['active', ago(session.activeAt)],
    ['turns', `${session.turnCount}, ${usageText(usage)}`],
    ['in the queue', count(session.queued)],
    ['approvals', count(session.openApprovals)],
    ['last error', oneLine(session.lastError?.message ?? '', 1000)],
  ]
}

export const history: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const wanted = wholeNumber(cli.options, 'limit', 100)
    const sessionId = await resolveSession(cli, client, String(fragment))
    const { items } = await readPast(client, sessionId, wanted)
    if (cli.json) items.forEach(cli.printJson)
    else cli.stdout.write(renderItems(items, cli.paint))
  })

export const interrupt: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(cli, client, String(fragment))
    const result = await client.call('session.interrupt', {
      sessionId,
      clearQueue: cli.options['clear'] === true,
    })
    if (cli.json) return cli.printJson({ sessionId, ...result })
    cli.print(result.interrupted ? 'stopping the turn' : 'no turn was running')
    if (result.cancelled.length > 0) cli.print(`removed ${result.cancelled.length} from the queue`)
  })

/** A command that does one thing to a session and shows it. */
function changing(
  say: string,
  change: (client: NativeClient, sessionId: string, cli: Cli, words: unknown) => Promise<SessionView>,
): Command {
  return (cli, [fragment, words]) =>
    cli.withDaemon(async (client) => {
      const session = await change(client, await resolveSession(cli, client, String(fragment)), cli, words)
      noteSession(cli, session.id)
      if (cli.json) cli.printJson(session)
      else cli.print(`${say} ${shortId(session.id)}`)
    })
}

export const pause = changing('paused', (client, sessionId) => client.call('session.pause', { sessionId }))
export const resume = changing('resumed', (client, sessionId) => client.call('session.resume', { sessionId }))

export const fork = changing('forked; the new session is', (client, sessionId, cli) =>
  client.call('session.fork', { sessionId, ...given(cli.options, 'title'), key: uuid(), origin: 'cli' }),
)

export const rename = changing('renamed', (client, sessionId, _, words) =>
  // Without a word in it, it gives back the name that the session has of itself.
  client.call('session.configure', { sessionId, title: (words as string[]).join(' ').trim() || null }),
)

export const set = changing('changed', (client, sessionId, cli) => {
  const { archive } = cli.options
  const changes = { ...setup(cli.options), ...(typeof archive === 'boolean' && { archived: archive }) }
  if (Object.keys(changes).length === 0) {
    throw new CliError('nothing to change; give --mode, --model, --effort or --archive', EXIT.usage)
  }
  return client.call('session.configure', { sessionId, ...changes })
})

export const remove: Command = (cli, [fragments]) =>
  cli.withDaemon(async (client) => {
    for (const fragment of fragments as string[]) {
      const sessionId = await resolveSession(cli, client, fragment)
      const { worktree } = await client.call('session.destroy', { sessionId })
      if (cli.json) cli.printJson({ sessionId, worktree })
      else cli.print(`removed ${shortId(sessionId)}`)
      if (cli.json || worktree === null || worktree.fate === 'removed') continue
      const why = worktree.fate === 'kept' ? 'it holds work that is nowhere else' : 'git could not remove it'
      cli.note(`its worktree was kept, since ${why}: ${clean(worktree.path)}`)
    }
  })
