import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Api, NativeClient } from '../../client/client.ts'
import { text, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean } from '../format.ts'
import { resolveSession } from '../find-session.ts'

type Page = Api['session.export']['result']

const FORMATS = { md: 'markdown', markdown: 'markdown', json: 'json' } as const

export const exportSession: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const wanted = text(cli.options['format']) ?? (cli.json ? 'json' : 'md')
    const format = FORMATS[wanted as keyof typeof FORMATS]
    if (!format) throw new CliError(`--format must be md or json, not ${wanted}`, EXIT.usage)
    const directory = text(cli.options['all'])
    if ((directory === undefined) === (fragment === undefined))
      throw new CliError('name one session, or --all and a directory', EXIT.usage)
    if (directory !== undefined)
      return (await import('./export-all.ts')).exportAll(cli, client, directory, format)
    const sessionId = await resolveSession(cli, client, String(fragment))
    const pages = pagesOf(client, { sessionId, format })
    const file = text(cli.options['output'])
    if (file === undefined) await write(cli.stdout.isTTY ? cleaned(pages) : pages, cli.stdout)
    else {
      await intoFile(pages, file)
      cli.note(`written to ${file}`)
    }
  })

export async function* pagesOf(
  client: NativeClient,
  what: { sessionId: string; format: 'json' | 'markdown' },
) {
  let cursor: string | null = null
  do {
    const page: Page = await client.call('session.export', { ...what, ...(cursor !== null && { cursor }) })
    yield page.text
    cursor = page.next
  } while (cursor !== null)
}

/** For a terminal, which would obey what agents have said. */
async function* cleaned(pages: AsyncIterable<string>) {
  for await (const page of pages) yield clean(page)
}

async function write(pages: AsyncIterable<string>, out: Writable): Promise<void> {
  for await (const page of pages) if (!out.write(page)) await once(out, 'drain')
}

/** The file has another name until it is complete. */
export async function intoFile(pages: AsyncIterable<string>, file: string): Promise<void> {
  const part = `${file}.part`
  const out = createWriteStream(part, { mode: 0o600 })
  try {
    await once(out, 'open')
    await write(pages, out)
    out.end()
    await finished(out)
    await rename(part, file)
  } catch (error) {
    out.destroy()
    await rm(part, { force: true }).catch(() => {})
    throw error
  }
}
