import { spawn } from 'node:child_process'
import { isHeadless } from '../../signin/headless.ts'
import type { Cli, Command } from '../cli.ts'

/** How long a program that opens browsers may take to say that it cannot. */
const PATIENCE_MS = 3000

/** The code in the address is good for one browser and one minute, so it may be seen for a moment in the list of processes. */
export const open: Command = (cli) =>
  cli.withDaemon(
    async (client) => {
      const { url, expiresAt } = await client.call('door.code')
      const isPrinted = cli.options['print'] === true || cli.json || isHeadless(cli.env)
      if (!isPrinted && (await openBrowser(cli, url)))
        return cli.note(`the dashboard is in your browser: ${new URL(url).origin}`)
      if (cli.json) return cli.printJson({ url, expiresAt })
      cli.print(url)
      cli.note('open this address within a minute; it works once')
    },
    { start: true },
  )

/** The program of this system that opens addresses. */
function opener(env: NodeJS.ProcessEnv): [command: string, ...args: string[]] {
  if (env['BROWSER']) return [env['BROWSER']]
  if (process.platform === 'darwin') return ['open']
  return process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
}

function openBrowser(cli: Cli, url: string): Promise<boolean> {
  const [command, ...args] = opener(cli.env)
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    // One that runs on is the browser itself.
    const timer = setTimeout(() => resolve(true), PATIENCE_MS)
    const done = (worked: boolean): void => {
      clearTimeout(timer)
      resolve(worked)
    }
    child.on('error', () => done(false))
    child.on('exit', (code) => done(code === 0))
    child.unref()
  })
}
