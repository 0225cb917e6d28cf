import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isSea } from 'node:sea'
import { loadConfig } from '../../config/config.ts'
import { createUpdates, type StagedUpdate, type UpdateCheck, type Updates } from '../../system/update.ts'
import type { Cli, Command } from '../cli.ts'
import { statusOf } from '../detach.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean } from '../format.ts'
import { ownCommand } from '../own-command.ts'
import { version } from '../version.ts'

export const upgrade: Command = async (cli) => {
  const { updates: settings } = await loadConfig({ env: cli.env, flags: { home: cli.home } })
  const updates = createUpdates({ settings, current: version, directory: join(cli.home, 'updates') })
  const found = await updates.check()
  if (cli.options['check'] === true || found.state !== 'available') return report(cli, found)
  if (!cli.json) cli.note(`corral ${found.latest} is there; this is ${found.current}`)
  const staged = await fetched(updates)
  if (!cli.json) cli.note('its signature and its checksum are right')
  const prefix = npmPrefix()
  if (prefix === null)
    throw new CliError(
      `this corral was not installed by npm, and is left alone; the verified package is ${staged.path}`,
    )
  await install(cli, prefix, staged)
  const isRestarted = cli.options['restart'] !== false && (await statusOf(cli.socket)) !== null
  if (isRestarted) await run(cli, ...newCommand('restart', '--home', cli.home))
  if (cli.json) cli.printJson({ from: version, to: staged.version, restarted: isRestarted })
  else cli.print(`corral ${staged.version} is installed${isRestarted ? ', and the daemon runs it' : ''}`)
  return EXIT.ok
}

function report(cli: Cli, found: UpdateCheck): number {
  const code = found.state === 'failed' ? EXIT.error : EXIT.ok
  if (cli.json) cli.printJson(found)
  else if (found.state === 'available') {
    cli.print(`corral ${found.latest} is there; this is ${found.current}`)
    if (found.notes !== '') cli.print(clean(found.notes))
  } else if (found.state === 'current') cli.print(`corral ${found.current} is the newest`)
  else cli.note(clean(found.message))
  if (found.state === 'unconfigured' && !cli.json)
    cli.note('with npm you upgrade by hand: npm install --global corral@latest && corral restart')
  return code
}

/** Fetched, and then verified as it lies on the disk: what is installed is what was signed. */
async function fetched(updates: Updates): Promise<StagedUpdate> {
  try {
    await updates.stage()
    const staged = await updates.staged()
    if (staged) return staged
  } catch (error) {
    throw new CliError(`nothing was installed: ${(error as Error).message}`)
  }
  throw new CliError('nothing was installed: the package is gone again')
}

/** The directory that npm's `--global` goes by; null where npm has not installed this program. */
function npmPrefix(): string | null {
  if (isSea()) return null
  const file = realpathSync(process.argv[1]!)
  return /^(.*)\/lib\/node_modules\/corral\/bin\/corral\.js$/.exec(file)?.[1] ?? null
}

/** The package has no dependencies and no scripts: nobody else is asked, and nothing is run. */
async function install(cli: Cli, prefix: string, { path }: StagedUpdate): Promise<void> {
  const args = [
    'install',
    '--global',
    '--prefix',
    prefix,
    '--offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ]
  await run(cli, 'npm', ...args, path)
}

/** This program's file is the new one by now. */
function newCommand(...args: string[]): [string, ...string[]] {
  const [program, ...before] = ownCommand()
  return [program, ...before, ...args]
}

function run(cli: Cli, program: string, ...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    // What it prints is a remark: the result of this command is our own line.
    const child = spawn(program, args, { env: cli.env, stdio: ['ignore', 2, 2] })
    child.once('error', (error) => reject(new CliError(`${program} cannot be run: ${error.message}`)))
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new CliError(`${program} ${args[0]} has failed; see above`)),
    )
  })
}
