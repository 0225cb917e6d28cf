import { Command, Option } from 'commander'
import { createCli, type Command as Action, type Options } from './cli.ts'
import { CliError, EXIT } from './exit.ts'
import { COMMANDS, groupOf, namesOf, NOUNS } from './program.ts'
import { COMMON, GROUPS, type CommandSpec, type NounSpec, type OptionSpec } from './program/spec.ts'
import { version } from './version.ts'

/** How the command ended. */
interface Outcome {
  code: number
}

/**
 * The program for one command line. It has all of its commands only where the first word of the line names none: to build
 * them takes longer than many commands do.
 */
export function buildProgram(outcome: Outcome, [first]: readonly string[], isBare: boolean): Command {
  const program = new Command('corral')
    .description('Run coding agents as sessions that last, and reach them from everywhere.')
    .usage('[command] [options]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .showSuggestionAfterError()
    .enablePositionalOptions() // a verb's options are not those of its noun
    .exitOverride()
    .configureOutput({ outputError() {} }) // `run` reports it
    .configureHelp({ subcommandTerm: termOf, commandUsage: usageOf })
  addCommands(program, outcome, (word) => word === first)
  if (program.commands.length === 0) addCommands(program, outcome, () => true)
  if (isBare) addHome(program, outcome)
  return program.addHelpText('after', HELP_END)
}

/** What `corral` alone does. */
function addHome(program: Command, outcome: Outcome): void {
  const command = program.command('home', { isDefault: true, hidden: true })
  addOptions(command, [])
  command.action(async () => {
    outcome.code = await act(command, (await import('./commands/inbox.ts')).home)
  })
}

/** Adds the commands whose first word fits. */
function addCommands(program: Command, outcome: Outcome, fits: (word: string) => boolean): void {
  const fitting = NOUNS.filter(({ name, plural }) => fits(name) || fits(plural))
  const nouns = new Map(fitting.map((noun) => [noun.name, nounCommand(program, noun, outcome)]))
  const isWanted = (name: string): boolean => {
    const [word = '', verb] = name.split(' ')
    return verb === undefined ? fits(word) : nouns.has(word)
  }
  for (const group of GROUPS) {
    for (const spec of COMMANDS.filter((one) => groupOf(one) === group)) {
      for (const name of namesOf(spec).filter(isWanted)) addVerb(program, nouns, name, spec, outcome)
      for (const name of spec.old?.filter(isWanted) ?? []) addVerb(program, nouns, name, spec, outcome, true)
    }
    for (const noun of fitting.filter((one) => one.group === group)) {
      program.addCommand(nouns.get(noun.name)!.helpGroup(`${group}:`))
    }
  }
}

const HELP_END = `
Run \`corral <command> --help\` to read when to use it, its options and examples.
A session is named by a part of its id or of its title; - is the last one.

First steps:
  $ corral new "Why does the build fail?"

Exit codes: 0 success, 1 error, 2 wrong usage, 3 no daemon is running,
130 left before the answer was complete.`

/** Like commander's own, but without the plural of a noun. */
function usageOf(command: Command): string {
  const path = [command.name(), command.usage()]
  for (let above = command.parent; above; above = above.parent) path.unshift(above.name())
  return path.join(' ')
}

function termOf(command: Command): string {
  if (command.commands.length > 0) return `${command.name()} <verb>`
  if (!command.parent?.parent) return command.name()
  const args = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '...' : '')
    return argument.required ? `<${name}>` : `[${name}]`
  })
  return [command.name(), ...args].join(' ')
}

function nounCommand(program: Command, { name, plural, summary, bare }: NounSpec, outcome: Outcome): Command {
  const command = program.createCommand(name).copyInheritedSettings(program)
  command.alias(plural).usage('<verb> [options]').description(`${summary}.`).summary(summary)
  command.commandsGroup('Verbs:').helpCommand(false).allowExcessArguments()
  command.addHelpText('after', `\nRun \`corral ${name} <verb> --help\` for its options and examples.`)
  if (bare.args !== '') command.arguments(bare.args)
  addOptions(command, bare.options, true)
  command.action(async () => {
    const [first = ''] = command.args
    if (command.args.length > command.registeredArguments.length) {
      throw unknownCommand(first, command, `corral ${name}`)
    }
    outcome.code = await act(command, await bare.load())
  })
  return command
}

/** A command under one of its names; a name of two words is a verb of a noun. */
function addVerb(
  program: Command,
  nouns: ReadonlyMap<string, Command>,
  name: string,
  spec: CommandSpec,
  outcome: Outcome,
  hidden = false,
): void {
  const [own = '', noun = ''] = name.split(' ').toReversed()
  const parent = nouns.get(noun) ?? program
  const command = parent
    .command(`${own} ${spec.args}`.trim(), { isDefault: name === 'start', hidden })
    .summary(spec.summary)
    .description(`${spec.summary}.\n\n${spec.use}`)
    .allowExcessArguments(false)
    .addHelpText('after', `\n${examplesText(spec)}`)
  if (parent === program) command.helpGroup(`${groupOf(spec)}:`)
  addOptions(command, spec.options ?? [])
  command.action(async () => {
    // Nobody reads the output any more. A daemon goes on without a reader, and `rpc` may have one to stop.
    process.stdout.on('error', () => !['start', 'rpc'].includes(name) && process.exit(EXIT.ok))
    outcome.code = await act(command, await spec.load())
  })
}

function examplesText({ examples }: CommandSpec): string {
  const lines = examples.map((example) => `  $ ${example}`)
  return [examples.length === 1 ? 'Example:' : 'Examples:', ...lines].join('\n')
}

function addOptions(command: Command, options: readonly OptionSpec[], hidden = false): void {
  for (const [flags, description, kind] of options) {
    const option = new Option(flags, description).hideHelp(hidden || kind === 'old')
    command.addOption(kind === 'many' ? option.argParser(collect) : option)
  }
  for (const [flags, description] of COMMON) command.addOption(new Option(flags, description))
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

async function act(command: Command, action: Action): Promise<number> {
  const cli = createCli(command.optsWithGlobals<Options>())
  return (await action(cli, command.processedArgs as unknown[])) ?? EXIT.ok
}

/** Says which command may have been meant, or which verbs a noun has. */
export function unknownCommand(word: string, parent: Command, path: string): CliError {
  const names = parent
    .createHelp()
    .visibleCommands(parent)
    .map((command) => command.name())
  const near = names.filter((name) => name.startsWith(word.slice(0, 2)))
  const verbs = parent.parent ? `; its verbs are ${names.join(', ')}` : ''
  const hint = near.length > 0 ? ` (did you mean ${near.join(' or ')}?)` : verbs
  const full = `${path} ${word}`.replace('corral ', '')
  return new CliError(`unknown command '${full}'${hint}; see ${path} --help`, EXIT.usage)
}
