import { existsSync } from 'node:fs'
import type { Api, NativeClient } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { ago, clean, shortId, table } from '../format.ts'
import { resolveSession } from '../find-session.ts'
import { pickId } from '../resolve.ts'

type Changes = Api['changes.read']['result']
type FileChange = Changes['files'][number]
type Preview = Api['checkpoint.preview']['result']

export const list: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(cli, client, String(fragment))
    const { checkpoints, reason } = await client.call('checkpoint.list', { sessionId })
    if (cli.json) return checkpoints.forEach(cli.printJson)
    if (cli.options['quiet']) return checkpoints.forEach(({ turnId }) => cli.print(clean(turnId)))
    if (checkpoints.length === 0) return cli.note(`there are no checkpoints: ${clean(reason ?? '')}`)
    const rows = checkpoints.map(({ turnId, kind, at, files, left }) => [
      cli.paint('bold', shortId(turnId)),
      ago(at),
      kind === 'undo' ? 'before a restoration' : files === null ? '' : `the turn changed ${counted(files)}`,
      left.length > 0 ? `without ${counted(left.length)}` : '',
    ])
    cli.print(table(rows))
  })

function counted(files: number): string {
  return `${files} file${files === 1 ? '' : 's'}`
}

async function resolveTurn(client: NativeClient, sessionId: string, fragment: unknown): Promise<string> {
  const { checkpoints } = await client.call('checkpoint.list', { sessionId })
  return pickId(
    'checkpoint',
    String(fragment),
    checkpoints.map(({ turnId }) => turnId),
  )
}

export const changes: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(cli, client, String(fragment))
    const turn = text(cli.options['turn'])
    const turnId = turn === undefined ? undefined : await resolveTurn(client, sessionId, turn)
    const found = await client.call('changes.read', {
      sessionId,
      scope: scopeOf(cli),
      ...(turnId && { turnId }),
    })
    if (cli.json) return cli.printJson(found)
    if (found.reason !== null) return cli.note(clean(found.reason))
    if (found.files.length === 0) return cli.note('nothing has changed')
    printFiles(cli, found.files)
    if (found.truncated) cli.note('there is more than was shown')
  })

function scopeOf({ options }: Cli): Changes['scope'] {
  const scopes = ['session', 'branch', 'uncommitted'] as const
  return scopes.find((scope) => options[scope] === true) ?? 'turn'
}

/** With nothing but a file it is a backup that is meant. */
export const restore: Command = async (cli, [fragment, turn]) => {
  if (turn !== undefined) return restoreFiles(cli, [fragment, turn])
  if (existsSync(String(fragment))) return (await import('./backup.ts')).restore(cli, [fragment])
  throw new CliError(
    `there is no backup ${String(fragment)}; to bring the files of a session back, name a turn (corral checkpoint ls)`,
    EXIT.usage,
  )
}

const restoreFiles: Command = (cli, [fragment, turn]) =>
  cli.withDaemon(async (client) => {
    const sessionId = await resolveSession(cli, client, String(fragment))
    const turnId = await resolveTurn(client, sessionId, turn)
    const force = cli.options['force'] === true
    if (cli.options['yes'] !== true)
      return preview(cli, await client.call('checkpoint.preview', { sessionId, turnId }))
    const done = await client.call('checkpoint.restore', { sessionId, turnId, force })
    if (cli.json) return cli.printJson(done)
    cli.print(`restored ${counted(done.restored)}`)
    cli.note(`to undo it: corral restore ${shortId(sessionId)} ${shortId(done.undo.turnId)} --yes`)
  })

function preview(cli: Cli, found: Preview): number {
  if (cli.json) cli.printJson(found)
  else {
    printFiles(cli, found.files)
    for (const { path, why } of found.conflicts) cli.note(`${clean(path)}: ${clean(why)}`)
    if (found.reason !== null) cli.note(clean(found.reason))
    const isSame = found.files.length === 0 && found.conflicts.length === 0
    if (isSame) cli.note('the files are as they were then')
    else cli.note(`nothing was changed; to do it, add ${found.canRestore ? '--yes' : '--yes --force'}`)
  }
  return found.canRestore ? EXIT.ok : EXIT.error
}

const COLOURS = { '+': 'green', '-': 'red', ' ': null } as const

/** As git would print it; names and lines are somebody else's words. */
function printFiles(cli: Cli, files: readonly FileChange[]): void {
  for (const file of files) {
    cli.print(cli.paint('bold', titleOf(file)))
    if (file.isBinary) cli.print('(binary)')
    for (const { oldStart, oldLines, newStart, newLines, header, lines } of file.hunks) {
      const range = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`
      cli.print(cli.paint('cyan', `${range} ${clean(header)}`.trimEnd()))
      for (const { kind, text: line } of lines) {
        const colour = COLOURS[kind]
        const said = `${kind}${clean(line)}`
        cli.print(colour === null ? said : cli.paint(colour, said))
      }
    }
    if (file.truncated) cli.print('…')
  }
}

function titleOf({ path, oldPath, status, additions, deletions }: FileChange): string {
  const name = oldPath === null ? path : `${oldPath} → ${path}`
  return `${status} ${clean(name).replaceAll('\n', ' ')} (+${additions} -${deletions})`
}
