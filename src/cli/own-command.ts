import { isSea } from 'node:sea'

/** What starts this very program again: the single executable, or Node with our file. */
export function ownCommand(): [program: string, ...args: string[]] {
  if (isSea()) return [process.execPath]
  return [process.execPath, ...process.execArgv, process.argv[1]!]
}
