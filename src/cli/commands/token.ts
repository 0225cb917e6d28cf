import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { pathsOf } from '../../config/paths.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError } from '../exit.ts'

export const show: Command = async (cli) => {
  const path = pathOf(cli)
  const token = readFileSync(path, 'utf8').trim()
  if (cli.json) cli.printJson({ token, path })
  else cli.print(token)
}

/** The daemon reads the file again when it changes. */
export const replace: Command = async (cli) => {
  const path = pathOf(cli)
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, randomBytes(16).toString('hex'), { mode: 0o600 })
  renameSync(draft, path)
  return show(cli, [])
}

/** `corral token --new`. */
export const bare: Command = (cli) => (cli.options['new'] === true ? replace(cli, []) : show(cli, []))

function pathOf({ home }: Cli): string {
  const { token } = pathsOf(home)
  if (existsSync(token)) return token
  throw new CliError('there is no token yet; the first start of the daemon makes one: corral start --detach')
}
