import { Command, CommanderError } from 'commander'
import { version } from './version.ts'
import { createCli, type Options } from './cli.ts'
import { CliError, EXIT } from './exit.ts'
import { clean } from './format.ts'
import { COMMANDS, COMMON, type CommandSpec } from './program.ts'

/** Runs one command line; resolves with the exit code. */
export async function run(argv: string[]): Promise<number> {
  const outcome = { code: EXIT.ok as number }
  const words = commandFirst(argv)
  try {
    refuseUnknownCommand(words)
    await build(outcome).parseAsync(words, { from: 'user' })
    return outcome.code
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(error, wantsJson(argv))
    if (error.exitCode === 0) return EXIT.ok
    return report(
      new CliError(error.message.replace(/^error: /, '').replaceAll('\n', ' '), EXIT.usage),
      wantsJson(argv),
    )
  }
}

function wantsJson(argv: string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}

/** Options that every command knows may also stand before its name. */
function commandFirst(argv: string[]): string[] {
  let at = 0
  while (at < argv.length) {
    const [name] = argv[at]!.split('=', 1)
    const known = COMMON.find(([flags]) => flags.split(' ')[0] === name)
    if (!known) break
    at += known[0].includes('<') && name === argv[at] ? 2 : 1
  }
  const [command, ...rest] = argv.slice(at)
  if (command === undefined || command.startsWith('-')) return argv
  return [command, ...argv.slice(0, at), ...rest]
}

function build(outcome: { code: number }): Command {
  const program = new Command('corral')
    .description('One daemon for your coding agents: sessions that last, reachable from everywhere.')
    .version(version, '-V, --version')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ outputError() {} }) // `run` reports it
  for (const spec of COMMANDS) addCommand(program, spec, outcome)
  program.addHelpText(
    'after',
    '\nExit codes: 0 fine, 1 an error, 2 wrong usage, 3 no daemon is running, 130 left early.',
  )
  return program
}

function addCommand(program: Command, spec: CommandSpec, outcome: { code: number }): void {
  const [own = '', outer] = spec.name.split(' ').toReversed()
  const parent = program.commands.find((command) => command.name() === outer) ?? program
  const command = parent
    .command(`${own} ${spec.args}`.trim(), { isDefault: spec.name === 'start' })
    .description(spec.summary)
    .allowExcessArguments(false)
    .exitOverride()
  for (const [flags, description, repeatable] of [...spec.options, ...COMMON]) {
    if (repeatable) command.option(flags, description, collect)
    else command.option(flags, description)
  }
  command.action(async () => {
    // Whoever read the output has had enough. A daemon goes on without being read, and `rpc` may have one to stop.
    process.stdout.on('error', () => !['start', 'rpc'].includes(spec.name) && process.exit(EXIT.ok))
    const action = await spec.load()
    outcome.code =
      (await action(createCli(command.optsWithGlobals<Options>()), command.processedArgs as unknown[])) ??
      EXIT.ok
  })
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** With a default command, commander would take a misspelt one for its argument. */
function refuseUnknownCommand([first]: string[]): void {
  if (first === undefined || first.startsWith('-') || first === 'help') return
  const names = COMMANDS.map((spec) => spec.name).filter((name) => !name.includes(' '))
  if (names.includes(first)) return
  const near = names.filter((name) => name.startsWith(first.slice(0, 2)))
  const hint = near.length > 0 ? ` (did you mean ${near.join(' or ')}?)` : ''
  throw new CliError(`unknown command '${first}'${hint}; see corral --help`, EXIT.usage)
}

function report(error: unknown, json: boolean): number {
  const problem = error instanceof Error ? error : new Error(String(error))
  const code =
    'exitCode' in problem && typeof problem.exitCode === 'number' ? problem.exitCode : exitCodeOf(problem)
  const data = 'data' in problem ? { data: problem.data } : {}
  const name = 'code' in problem ? { code: problem.code } : {}
  const line = json
    ? JSON.stringify({ error: { message: problem.message, ...name, ...data } })
    : `corral: ${clean(problem.message)}`
  process.stderr.write(`${line}\n`)
  if (process.env['CORRAL_DEBUG']) process.stderr.write(`${problem.stack}\n`)
  return code
}

function exitCodeOf(problem: Error): number {
  if (problem.name === 'ConfigError') return EXIT.usage
  return problem.name === 'DaemonUnreachable' ? EXIT.noDaemon : EXIT.error
}
