import type { Api, NativeClient } from '../../dialects/native/client.ts'
import { given, type Cli, type Command } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { clean, shortId, table } from '../format.ts'
import { pickId } from '../resolve.ts'

type Merged = Api['worktree.merge']['result']

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const { worktrees } = await client.call('worktree.list')
    if (cli.json) return worktrees.forEach(cli.printJson)
    if (cli.options['quiet']) return worktrees.forEach(({ sessionId }) => cli.print(clean(sessionId)))
    if (worktrees.length === 0)
      return cli.note('no worktrees; a session gets one with: corral new --worktree')
    const rows = worktrees.map(({ sessionId, branch, path }) => [
      cli.paint('bold', shortId(sessionId)),
      clean(branch ?? '(no branch)'),
      clean(path),
    ])
    cli.print(table(rows))
  })

export const diff: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveWorktree(client, String(fragment))
    const found = await client.call('worktree.diff', { sessionId })
    if (cli.json) return cli.printJson({ sessionId, ...found })
    cli.stdout.write(cli.stdout.isTTY ? coloured(cli, clean(found.text)) : found.text)
    if (found.truncated) cli.note('the rest is left out: it is too much')
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
    const sessionId = await resolveWorktree(client, String(fragment))
    const merged = await client.call('worktree.merge', { sessionId, ...given(cli.options, 'message') })
    if (cli.json) cli.printJson({ sessionId, ...merged })
    else sayMerged(cli, merged)
    return merged.outcome === 'merged' || merged.outcome === 'nothing' ? EXIT.ok : EXIT.error
  })

const BLOCKED = {
  detached: 'no branch is checked out in the repository',
  uncommitted: 'these have uncommitted changes in the repository',
  unfinished: 'a merge or a rebase is under way',
} as const

function sayMerged(cli: Cli, { outcome, commit = '', why, files = [] }: Merged): void {
  if (outcome === 'merged') return cli.print(`merged as ${commit.slice(0, 12)}`)
  if (outcome === 'nothing') return cli.print('there was nothing to merge')
  const reason = outcome === 'conflict' ? 'both sides have changed these' : BLOCKED[why ?? 'unfinished']
  cli.note(`not merged, nothing was touched: ${reason}`)
  for (const file of files) cli.note(`  ${clean(file)}`)
}

export const discard: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveWorktree(client, String(fragment))
    await client.call('worktree.discard', { sessionId, force: cli.options['force'] === true })
    if (cli.json) cli.printJson({ sessionId })
    else cli.print(`removed the worktree of ${shortId(sessionId)}`)
  })

async function resolveWorktree(client: NativeClient, fragment: string): Promise<string> {
  const { worktrees } = await client.call('worktree.list')
  return pickId(
    'worktree',
    fragment,
    worktrees.map(({ sessionId }) => sessionId),
  )
}
