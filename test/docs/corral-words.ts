import assert from 'node:assert/strict'
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/build.ts'
import { SETTINGS } from '../../src/config/schema.ts'
import { wordsOf } from './extract.ts'

const program = buildProgram({ code: 0 }, [], false)

/** What ends a command in a shell, or in a sentence. */
const ENDS = /^([|&;<>]|&&|\|\||>>|<<<)$/

/**
 * Fails if a text says something of `corral` that the program does not know: a command, an option, too many words. `whole`: it is a
 * command as it is typed, so that too few count as well.
 */
export function checkCorral(text: string, where: string, { whole = true } = {}): void {
  // There it is the name of an image, or of a server.
  const said = text.replace(/^docker (build|run)\b.*|^(claude mcp add\b.*?) corral/, '$2')
  for (const [, rest = ''] of said.matchAll(/(?:^|[\s($;&|])(?:npm run corral --|corral(?= ))([^\n)]*)/g)) {
    const words = wordsOf(rest.trim())
    const end = words.findIndex((word) => ENDS.test(word))
    check(end < 0 ? words : words.slice(0, end), `${where}: corral${rest}`, whole)
  }
}

function check(words: readonly string[], where: string, whole: boolean): void {
  const { command, rest } = find(words)
  if (rest[0] === '--help' || rest[0] === '--version' || rest[0] === '…') return
  assert.ok(command !== program, `${where}: there is no such command`)
  let given = 0
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at]!
    if (!/^--?[a-z]/.test(word)) {
      given++
      continue
    }
    const [name] = word.split('=')
    const option = command.options.find(({ short, long }) => name === short || name === long)
    assert.ok(option ?? isSetting(name!), `${where}: ${command.name()} has no option ${name}`)
    if (option && (option.required || option.optional) && !word.includes('=')) at++
  }
  const { registeredArguments: args } = command
  const most = args.some(({ variadic }) => variadic) ? Infinity : args.length
  // A noun without a verb is spoken of.
  if (command.commands.length > 0 && !whole) return
  assert.ok(given <= most, `${where}: ${command.name()} takes ${most} words, not ${given}`)
  if (!whole) return
  const least = args.filter(({ required }) => required).length
  assert.ok(given >= least, `${where}: ${command.name()} takes at least ${least} words, not ${given}`)
}

/** The command that the first words name. */
function find(words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command: Command = program
  let at = 0
  for (; at < words.length; at++) {
    const found = command.commands.find((one) => one.name() === words[at])
    if (!found) break
    command = found
  }
  return { command, rest: words.slice(at) }
}

/** Every setting is a flag of the daemon's. */
function isSetting(name: string): boolean {
  return SETTINGS.some(({ flag }) => flag === name)
}
