import { MODES } from '../../core/mode.ts'
import type { Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { COMMANDS, COMMON, type CommandSpec } from '../program.ts'

export const completion: Command = async (cli, [shell]) => {
  const script = { bash, zsh, fish }[String(shell)]
  if (!script)
    throw new CliError(`there is completion for bash, zsh and fish, not for ${String(shell)}`, EXIT.usage)
  cli.stdout.write(script())
}

/** Shell commands that print the values of an option, one a line. */
const VALUES: Readonly<Record<string, string>> = {
  '--mode': printing(MODES),
  '--agent': 'corral agents --quiet 2>/dev/null',
}

const DIRECTORIES = ['--home', '--cwd']

/** Shell commands that print what the first argument may be; by its name in `CommandSpec.args`. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  session: 'corral ls --quiet --limit 500 2>/dev/null',
  approval: 'corral approvals --quiet 2>/dev/null',
  server: printing(['approvals']),
  shell: printing(['bash', 'zsh', 'fish']),
}

function printing(words: readonly string[]): string {
  return `printf "%s\\n" ${words.join(' ')}`
}

interface Argument {
  commands: string[]
  print: string
}

/** Commands with the same kind of argument, those that take several of it apart. */
function argumentsOf(several: boolean): Argument[] {
  return Object.entries(ARGUMENTS).flatMap(([name, print]) => {
    const first = several ? `<${name}...>` : `<${name}>`
    const commands = COMMANDS.filter((spec) => spec.args.split(' ')[0] === first).map((spec) => spec.name)
    return commands.length > 0 ? [{ commands, print }] : []
  })
}

const one = argumentsOf(false)
const many = argumentsOf(true)
const names = COMMANDS.map((spec) => spec.name).join(' ')

function longOptions(spec: CommandSpec): string[] {
  return [...spec.options, ...COMMON].flatMap(([flags]) => /--[a-z-]+/.exec(flags) ?? [])
}

function bash(): string {
  const options = COMMANDS.map((spec) => `    ${spec.name}) words="${longOptions(spec).join(' ')}" ;;`)
  const values = Object.entries(VALUES).map(
    ([option, print]) => `    ${option}) COMPREPLY=($(compgen -W "$(${print})" -- "$current")); return ;;`,
  )
  const first = one.map(
    ({ commands, print }) =>
      `    ${commands.join('|')}) [ "$COMP_CWORD" -eq 2 ] && words="$words $(${print})" ;;`,
  )
  const each = many.map(({ commands, print }) => `    ${commands.join('|')}) words="$words $(${print})" ;;`)
  return `# corral completion for bash: source <(corral completion bash)
_corral() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${DIRECTORIES.join('|')}) COMPREPLY=($(compgen -d -- "$current")); return ;;
${values.join('\n')}
  esac
  case "$command" in
${options.join('\n')}
  esac
  case "$command" in
${[...first, ...each].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _corral corral
`
}

function zsh(): string {
  const described = COMMANDS.map((spec) => `    '${spec.name}:${quoted(spec.summary)}'`)
  const options = COMMANDS.map((spec) => `    ${spec.name}) compadd -- ${longOptions(spec).join(' ')} ;;`)
  const lines = (print: string): string => `compadd -- \${(f)"$(${print})"}`
  const values = Object.entries(VALUES).map(([option, print]) => `    ${option}) ${lines(print)}; return ;;`)
  const first = one.map(
    ({ commands, print }) => `    ${commands.join('|')}) (( CURRENT == 3 )) && ${lines(print)} ;;`,
  )
  const each = many.map(({ commands, print }) => `    ${commands.join('|')}) ${lines(print)} ;;`)
  return `#compdef corral
# corral completion for zsh: source <(corral completion zsh)
_corral() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[CURRENT-1]" in
    ${DIRECTORIES.join('|')}) _directories; return ;;
${values.join('\n')}
  esac
  case "$words[2]" in
${[...first, ...each].join('\n')}
  esac
  case "$words[2]" in
${options.join('\n')}
  esac
}
compdef _corral corral
`
}

function fish(): string {
  const lines = COMMANDS.flatMap((spec) => [
    `complete -c corral -n __fish_use_subcommand -a ${spec.name} -d '${quoted(spec.summary)}'`,
    ...[...spec.options, ...COMMON].map(([flags, description]) => {
      const long = /--([a-z-]+)/.exec(flags)?.[1] ?? ''
      return `complete -c corral -n '__fish_seen_subcommand_from ${spec.name}' -l ${long}${fishValue(flags, long)} -d '${quoted(description)}'`
    }),
  ])
  const first = [...one, ...many].map(
    ({ commands, print }) =>
      `complete -c corral -n '__fish_seen_subcommand_from ${commands.join(' ')}' -a '(${print})'`,
  )
  return [
    '# corral completion for fish: corral completion fish | source',
    'complete -c corral -f',
    ...lines,
    ...first,
    '',
  ].join('\n')
}

function fishValue(flags: string, long: string): string {
  const print = VALUES[`--${long}`]
  if (print !== undefined) return ` -x -a '(${print})'`
  if (DIRECTORIES.includes(`--${long}`)) return " -x -a '(__fish_complete_directories)'"
  return flags.includes('<') ? ' -x' : ''
}

function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', ' -')
}
