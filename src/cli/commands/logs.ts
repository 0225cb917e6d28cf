import { pathsOf } from '../../config/paths.ts'
import { readLog } from '../../system/log-reader.ts'
import type { Cli, Command } from '../cli.ts'
import { clean } from '../format.ts'
import { wholeNumber } from '../options.ts'

const USUAL_LINES = 50

export const logs: Command = async (cli) => {
  const { log } = pathsOf(cli.home)
  const count = wholeNumber(cli.options, 'lines', USUAL_LINES)
  const ending = new AbortController()
  const isFollowing = cli.options['follow'] === true
  if (isFollowing)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  let isEmpty = true
  for await (const line of readLog(log, { last: count, until: isFollowing ? ending.signal : null })) {
    print(cli, line)
    isEmpty = false
  }
  if (isEmpty && !isFollowing) cli.note(`nothing was logged yet (${log})`)
}

function print(cli: Cli, line: string): void {
  if (cli.json) return cli.print(line)
  cli.print(readable(cli, line) ?? clean(line))
}

const STYLES = { info: 'dim', warn: 'yellow', error: 'red' } as const

/** `09:12:03 warn a message key=value`; null for what is no line of ours. */
function readable(cli: Cli, line: string): string | null {
  try {
    const { time, level, message, ...data } = JSON.parse(line) as Record<string, unknown>
    const style = STYLES[level as keyof typeof STYLES] ?? 'dim'
    const facts = Object.entries(data).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    const words = [message, ...facts].map((word) => clean(String(word))).join(' ')
    return `${cli.paint('dim', clean(String(time)))} ${cli.paint(style, clean(String(level)).padEnd(5))} ${words}`
  } catch {
    return null
  }
}
