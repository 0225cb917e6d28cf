import type { Api, NativeClient } from '../../dialects/native/client.ts'
import { given, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, fields, shortId, table } from '../format.ts'
import { pickOne, resolveSession } from '../resolve.ts'

type Worktree = Api['worktree.list']['result']['worktrees'][number]
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
    const worktree = await find(client, fragment)
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
    const { sessionId } = await find(client, fragment)
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
    const { sessionId } = await find(client, fragment)
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
    const { sessionId } = await find(client, fragment)
    await client.call('worktree.discard', { sessionId, force: cli.options['force'] === true })
    if (cli.json) cli.printJson({ sessionId })
    else cli.print(`removed the worktree of ${shortId(sessionId)}`)
  })

async function find(client: NativeClient, fragment: unknown): Promise<Worktree> {
  const { worktrees } = await client.call('worktree.list')
  try {
    return pickOne('worktree', fragment, worktrees, ({ sessionId }) => sessionId)
  } catch (error) {
    const session = await sessionOf(client, String(fragment)).catch(() => null)
    if (session === null || worktrees.some(({ sessionId }) => sessionId === session.id)) throw error
    const hint = 'make one that has with: corral new --worktree'
    throw new CliError(`session ${shortId(session.id)} has no worktree of its own; ${hint}`)
  }
}

async function sessionOf(client: NativeClient, fragment: string): Promise<Api['session.get']['result']> {
  return client.call('session.get', { sessionId: await resolveSession(client, fragment) })
}
