import { type Command, CommanderError } from 'commander'
import { buildProgram, unknownCommand } from './build.ts'
import { CliError, EXIT } from './exit.ts'
import { clean, jsonLine } from './format.ts'
import { COMMON } from './program/spec.ts'

/** Runs one command line; resolves with the exit code. */
export async function run(argv: string[]): Promise<number> {
  // Remarks that nobody can read any more, as when the terminal was closed, are no reason to end.
  process.stderr.on('error', () => undefined)
  const outcome = { code: EXIT.ok as number }
  const words = helpLast(commandFirst(argv))
  const program = buildProgram(outcome, words, commonBefore(argv) === argv.length)
  try {
    refuseUnknownCommand(program, words)
    await program.parseAsync(words, { from: 'user' })
    return outcome.code
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(error, wantsJson(argv))
    if (error.exitCode === 0) return EXIT.ok
    const problem = error.message
      .replace(/^error: /, '')
      .replaceAll('\n', ' ')
      .replace(/\.$/, '')
    const help = `see ${pathOf(program, words)} --help`
    return report(new CliError(`${problem}; ${help}`, EXIT.usage), wantsJson(argv))
  }
}

function wantsJson(argv: string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}

/** Options that every command knows may also stand before its name. */
function commandFirst(argv: string[]): string[] {
  const at = commonBefore(argv)
  const [command, ...rest] = argv.slice(at)
  if (command === undefined || command.startsWith('-')) return argv
  return [command, ...argv.slice(0, at), ...rest]
}

/** How many of the words are such options, from the beginning on. */
function commonBefore(argv: string[]): number {
  let at = 0
  while (at < argv.length) {
    const [name] = argv[at]!.split('=', 1)
    const known = COMMON.find(([flags]) => flags.split(' ')[0] === name)
    if (!known) break
    at += known[0].includes('<') && name === argv[at] ? 2 : 1
  }
  return at
}

/** `corral help send` is `corral send --help`. */
function helpLast(words: string[]): string[] {
  return words[0] === 'help' ? [...words.slice(1), '--help'] : words
}

/** The command that the words name, as it is typed. */
function pathOf(program: Command, words: string[]): string {
  const path = [program]
  for (const word of words) {
    const next = path
      .at(-1)!
      .commands.find((command) => [command.name(), ...command.aliases()].includes(word))
    if (next) path.push(next)
    else if (!word.startsWith('-')) break
  }
  return path.map((command) => command.name()).join(' ')
}

/** With a default command, commander would take a misspelt one for its argument. */
function refuseUnknownCommand(program: Command, [first]: string[]): void {
  if (first === undefined || first.startsWith('-')) return
  const known = program.commands.flatMap((command) => [command.name(), ...command.aliases()])
  if (!known.includes(first)) throw unknownCommand(first, program, 'corral')
}

function report(error: unknown, json: boolean): number {
  const problem = error instanceof Error ? error : new Error(String(error))
  const code =
    'exitCode' in problem && typeof problem.exitCode === 'number' ? problem.exitCode : exitCodeOf(problem)
  const data = 'data' in problem ? { data: problem.data } : {}
  const name = 'code' in problem ? { code: problem.code } : {}
  const line = json
    ? jsonLine({ error: { message: problem.message, ...name, ...data } })
    : `corral: ${clean(problem.message)}`
  process.stderr.write(`${line}\n`)
  if (process.env['CORRAL_DEBUG']) process.stderr.write(`${problem.stack}\n`)
  return code
}

function exitCodeOf(problem: Error): number {
  if (problem.name === 'ConfigError') return EXIT.usage
  return problem.name === 'DaemonUnreachable' ? EXIT.noDaemon : EXIT.error
}
