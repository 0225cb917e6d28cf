import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { pathsOf } from '../../config/paths.ts'
import type { Command } from '../cli.ts'
import { CliError } from '../exit.ts'

/** The file is all there is: the daemon looks at it again when it changes. */
export const token: Command = async (cli) => {
  const { token: path } = pathsOf(cli.home)
  if (!existsSync(path)) throw new CliError('there is no token yet: the first `corral start` makes it')
  if (cli.options['new'] === true) {
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, randomBytes(16).toString('hex'), { mode: 0o600 })
    renameSync(draft, path)
  }
  const text = readFileSync(path, 'utf8').trim()
  if (cli.json) cli.printJson({ token: text, path })
  else cli.print(text)
}
