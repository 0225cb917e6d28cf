import { Command, CommanderError } from 'commander'
import { version } from './version.ts'
import { createCli, type Options } from './cli.ts'
import { EXIT } from './exit.ts'
import { COMMANDS, COMMON, type CommandSpec } from './program.ts'

/** Runs one command line; resolves with the exit code. */
export async function run(argv: string[]): Promise<number> {
  const outcome = { code: EXIT.ok as number }
  const program = build(outcome)
  const wrong = unknownCommand(argv)
  try {
    if (wrong) program.error(wrong, { exitCode: EXIT.usage })
    await program.parseAsync(argv, { from: 'user' })
    return outcome.code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    return report(error, argv.includes('--json'))
  }
}

function build(outcome: { code: number }): Command {
  const program = new Command('corral')
    .description('One daemon for your coding agents: sessions that last, reachable from everywhere.')
    .version(version, '-V, --version')
    .showSuggestionAfterError()
    .exitOverride()
  for (const spec of COMMANDS) addCommand(program, spec, outcome)
  program.addHelpText('after', '\nExit codes: 0 fine, 1 an error, 2 wrong usage, 3 no daemon is running.')
  return program
}

function addCommand(program: Command, spec: CommandSpec, outcome: { code: number }): void {
  const command = program
    .command(`${spec.name} ${spec.args}`.trim(), { isDefault: spec.name === 'start' })
    .description(spec.summary)
    .allowExcessArguments(false)
    .exitOverride()
  for (const [flags, description] of [...spec.options, ...COMMON]) command.option(flags, description)
  command.action(async () => {
    // Whoever read the output has had enough; a daemon goes on without being read.
    process.stdout.on('error', () => spec.name !== 'start' && process.exit(EXIT.ok))
    const action = await spec.load()
    outcome.code =
      (await action(createCli(command.opts<Options>()), command.processedArgs as unknown[])) ?? EXIT.ok
  })
}

/** With a default command, commander would take a misspelt one for its argument. */
function unknownCommand(argv: string[]): string | null {
  const first = argv[0]
  if (first === undefined || first.startsWith('-') || first === 'help') return null
  const names = COMMANDS.map((spec) => spec.name)
  if (names.includes(first)) return null
  const near = names.filter((name) => name.startsWith(first.slice(0, 2)))
  const hint = near.length > 0 ? ` (did you mean ${near.join(' or ')}?)` : ''
  return `error: unknown command '${first}'${hint}; see corral --help`
}

function report(error: unknown, json: boolean): number {
  const problem = error instanceof Error ? error : new Error(String(error))
  const code =
    'exitCode' in problem && typeof problem.exitCode === 'number' ? problem.exitCode : exitCodeOf(problem)
  const data = 'data' in problem ? { data: problem.data } : {}
  const name = 'code' in problem ? { code: problem.code } : {}
  const line = json
    ? JSON.stringify({ error: { message: problem.message, ...name, ...data } })
    : `corral: ${problem.message}`
  process.stderr.write(`${line}\n`)
  if (process.env['CORRAL_DEBUG']) process.stderr.write(`${problem.stack}\n`)
  return code
}

function exitCodeOf(problem: Error): number {
  if (problem.name === 'ConfigError') return EXIT.usage
  return problem.name === 'DaemonUnreachable' ? EXIT.noDaemon : EXIT.error
}
