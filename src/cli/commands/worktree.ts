import type { Api, NativeClient } from '../../client/client.ts'
import { given, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { allSessions, fitting, pick, resolveSession } from '../find-session.ts'
import { clean, fields, shortId, table } from '../format.ts'

export type Worktree = Api['worktree.list']['result']['worktrees'][number]
type Merged = Api['worktree.merge']['result']

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const { worktrees } = await client.call('worktree.list')
    if (cli.json) return worktrees.forEach(cli.printJson)
    if (cli.options['quiet']) return worktrees.forEach(({ sessionId }) => cli.print(clean(sessionId)))
    if (worktrees.length === 0)
      return cli.note('no session has a worktree; make one with: corral new --worktree')
    const rows = worktrees.map(({ sessionId, branch, path }) => [
      cli.paint('bold', shortId(sessionId)),
      clean(branch ?? '(no branch)'),
      clean(path),
    ])
    cli.print(table(rows))
  })

export const show: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const worktree = await findWorktree(cli, client, fragment)
    if (cli.json) return cli.printJson(worktree)
    const { sessionId, path, branch, base } = worktree
    const text = fields(cli.paint, [
      ['session', clean(sessionId)],
      ['directory', clean(path)],
      ['branch', clean(branch ?? '')],
      ['base', clean(base ?? '')],
    ])
    cli.print(text)
  })

export const diff: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const { sessionId } = await findWorktree(cli, client, fragment)
    const found = await client.call('worktree.diff', { sessionId })
    if (cli.json) return cli.printJson({ sessionId, ...found })
    cli.stdout.write(cli.stdout.isTTY ? coloured(cli, clean(found.text)) : found.text)
    if (found.truncated) cli.note('the diff is too long; the rest was left out')
  })

const COLOURS = { '+': 'green', '-': 'red', '@': 'cyan' } as const

function coloured(cli: Cli, text: string): string {
  const paint = (line: string): string => {
    const colour = COLOURS[line[0] as keyof typeof COLOURS]
    return colour ? cli.paint(colour, line) : line
  }
  return text.split('\n').map(paint).join('\n')
}

export const merge: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const { sessionId } = await findWorktree(cli, client, fragment)
    const merged = await client.call('worktree.merge', { sessionId, ...given(cli.options, 'message') })
    if (cli.json) cli.printJson({ sessionId, ...merged })
    else sayMerged(cli, merged)
    return merged.outcome === 'merged' || merged.outcome === 'nothing' ? EXIT.ok : EXIT.error
  })

const BLOCKED = {
  detached: 'check out a branch in the repository first',
  uncommitted: 'commit or undo your changes to these files first',
  unfinished: 'finish the merge or rebase in the repository first',
} as const

function sayMerged(cli: Cli, { outcome, commit = '', why, files = [] }: Merged): void {
  if (outcome === 'merged') return cli.print(`merged as ${commit.slice(0, 12)}`)
  if (outcome === 'nothing') return cli.print('the worktree has nothing new to merge')
  const reason = outcome === 'conflict' ? 'both sides have changed these files' : BLOCKED[why ?? 'unfinished']
  cli.note(`not merged, and nothing was changed: ${reason}`)
  for (const file of files) cli.note(`  ${clean(file)}`)
}

export const remove: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const { sessionId } = await findWorktree(cli, client, fragment)
    await client
      .call('worktree.discard', { sessionId, force: cli.options['force'] === true })
      .catch((error: unknown) => withHint(error, sessionId))
    if (cli.json) cli.printJson({ sessionId })
    else cli.print(`removed the worktree of ${shortId(sessionId)}`)
  })

/** Says it as it is typed here. */
function withHint(error: unknown, sessionId: string): never {
  if ((error as { code?: unknown }).code !== 'unsaved_work') throw error
  const id = shortId(sessionId)
  const said = (error as Error).message.replace(/; merge it first.*$/, '')
  throw new CliError(
    `${said}; keep it with: corral worktree merge ${id}; lose it with: corral worktree rm ${id} --force`,
  )
}

/** By the id or the title of its session. */
export async function findWorktree(cli: Cli, client: NativeClient, fragment: unknown): Promise<Worktree> {
  const given = String(fragment)
  const [{ worktrees }, sessions] = await Promise.all([client.call('worktree.list'), allSessions(client)])
  const wanted = given === '-' ? await resolveSession(cli, client, given) : given
  const candidates = worktrees.map((worktree) => ({
    name: null,
    ...sessions.find(({ id }) => id === worktree.sessionId),
    id: worktree.sessionId,
    worktree,
  }))
  if (fitting(wanted, candidates).length === 0) refuseWithout(fitting(wanted, sessions))
  return pick(wanted, candidates, 'worktree').worktree
}

function refuseWithout([session, ...others]: readonly { id: string }[]): void {
  if (!session || others.length > 0) return
  const hint = 'make one that has with: corral new --worktree'
  throw new CliError(`session ${shortId(session.id)} has no worktree of its own; ${hint}`)
}
