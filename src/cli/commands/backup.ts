import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { makeBackup } from '../../backup/make.ts'
import { checkBackup, HomeInUse, restoreBackup } from '../../backup/restore.ts'
import { loadConfig } from '../../config/config.ts'
import { pathsOf } from '../../config/paths.ts'
import { CorralError } from '../../core/error.ts'
import { isHeld } from '../../system/lock.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { bytes, table } from '../format.ts'
import { version } from '../version.ts'

export const add: Command = async (cli, [file]) => {
  const target = resolve(String(file))
  const { db } = pathsOf(cli.home)
  if (!existsSync(db)) throw new CliError(`there is nothing to back up in ${cli.home}`)
  if (existsSync(target) && cli.options['force'] !== true)
    throw new CliError(`${target} exists already; --force replaces it`)
  if (!existsSync(dirname(target))) throw new CliError(`there is no directory ${dirname(target)}`)
  const withSecrets = cli.options['withSecrets'] === true
  const secretToo = (await hasSecretSettings(cli)) ? ['config.yaml'] : []
  const manifest = await told(() => makeBackup({ home: cli.home, target, version, withSecrets, secretToo }))
  if (cli.json) return cli.printJson({ file: target, bytes: statSync(target).size, ...manifest })
  cli.print(
    `${target}: ${countOf(manifest.sessions)}, ${manifest.head} events, ${bytes(statSync(target).size)}`,
  )
  if (withSecrets) cli.note('it has your tokens and keys: keep it as you keep those')
  else cli.note('without tokens, keys and accounts (--with-secrets); what was said is in it')
  if (!withSecrets && secretToo.length > 0 && existsSync(pathsOf(cli.home).config))
    cli.note('config.yaml was left out: it gives variables to an agent, which may be keys')
}

export const show: Command = async (cli, [file]) => {
  const source = sourceOf(file)
  const work = mkdtempSync(join(tmpdir(), 'corral-check-'))
  try {
    const manifest = await told(() => checkBackup(source, work))
    if (cli.json) return cli.printJson({ file: source, ...manifest })
    const rows = [
      ['made', `${manifest.createdAt} by corral ${manifest.version}`],
      ['log', `${countOf(manifest.sessions)}, ${manifest.head} events, schema ${manifest.schema}`],
      ['secrets', manifest.secrets ? 'tokens, keys and accounts are in it' : 'none'],
      ...manifest.files.map(({ path, size }) => ['file', `${path} (${bytes(size)})`]),
    ]
    cli.print(table(rows.map(([name, value]) => [cli.paint('dim', name!), value!])))
    cli.note('all of it is as it was written')
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

export const restore: Command = async (cli, [file]) => {
  const source = sourceOf(file)
  const force = cli.options['force'] === true
  const { manifest, aside } = await told(() => restoreBackup({ home: cli.home, source, force }))
  if (cli.json) return cli.printJson({ home: cli.home, aside, ...manifest })
  cli.print(
    `${cli.home} is as it was on ${manifest.createdAt}: ${countOf(manifest.sessions)}, ${manifest.head} events`,
  )
  if (aside !== null) cli.note(`what was there before is in ${aside}`)
  if (!manifest.secrets)
    cli.note('the backup has no tokens and keys: clients need new ones, agents a new sign-in')
}

function countOf(sessions: number): string {
  return sessions === 1 ? '1 session' : `${sessions} sessions`
}

function sourceOf(file: unknown): string {
  const source = resolve(String(file))
  if (!existsSync(source)) throw new CliError(`there is no file ${source}`)
  return source
}

/** Variables that are given to an agent may be keys. A configuration that cannot be read is not judged. */
async function hasSecretSettings(cli: Cli): Promise<boolean> {
  try {
    const { customAgents } = await loadConfig({ env: {}, flags: { home: cli.home } })
    return Object.values(customAgents).some(({ env }) => Object.keys(env ?? {}).length > 0)
  } catch {
    return true
  }
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    if (isHeld(error)) throw new CliError(`${(error as Error).message}; stop it first: corral stop`)
    if (error instanceof CorralError) throw error
    throw new CliError((error as Error).message, error instanceof HomeInUse ? EXIT.usage : EXIT.error)
  })
}
