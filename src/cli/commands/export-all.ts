import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Api, NativeClient } from '../../client/client.ts'
import type { Cli } from '../cli.ts'
import { CliError } from '../exit.ts'
import { intoFile, pagesOf } from './export.ts'

type Listed = Api['session.list']['result']

const ENDINGS = { markdown: 'md', json: 'json' } as const

/** Every session, also the archived ones, each into a file of its own. */
export async function exportAll(
  cli: Cli,
  client: NativeClient,
  directory: string,
  format: keyof typeof ENDINGS,
): Promise<void> {
  if (existsSync(directory) && !statSync(directory).isDirectory())
    throw new CliError(`${directory} is a file; give a directory, which is made if it is not there`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (readdirSync(directory).length > 0) throw new CliError(`${directory} is not empty`)
  let count = 0
  for await (const { id, createdAt } of sessionsOf(client)) {
    const file = join(directory, `${new Date(createdAt).toISOString().slice(0, 10)}-${id}.${ENDINGS[format]}`)
    await intoFile(pagesOf(client, { sessionId: id, format }), file)
    count++
    if (cli.json) cli.printJson({ sessionId: id, file })
  }
  if (!cli.json) cli.note(`${count === 1 ? '1 session' : `${count} sessions`} written to ${directory}`)
}

async function* sessionsOf(client: NativeClient) {
  let cursor: string | null = null
  do {
    const page: Listed = await client.call('session.list', { limit: 100, ...(cursor !== null && { cursor }) })
    yield* page.sessions
    cursor = page.next
  } while (cursor !== null)
}
