import type { Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { COMMANDS, COMMON, type CommandSpec } from '../program.ts'

export const completion: Command = async (cli, [shell]) => {
  const script = { bash, zsh, fish }[String(shell)]
  if (!script)
    throw new CliError(`there is completion for bash, zsh and fish, not for ${String(shell)}`, EXIT.usage)
  cli.stdout.write(script())
}

const names = COMMANDS.map((spec) => spec.name).join(' ')
const withSession = COMMANDS.filter((spec) => spec.args.startsWith('<session')).map((spec) => spec.name)

function longOptions(spec: CommandSpec): string[] {
  return [...spec.options, ...COMMON].flatMap(([flags]) => /--[a-z-]+/.exec(flags) ?? [])
}

function bash(): string {
  const cases = COMMANDS.map((spec) => `    ${spec.name}) words="${longOptions(spec).join(' ')}" ;;`)
  return `# corral completion for bash: source <(corral completion bash)
_corral() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$current"))
    return
  fi
  case "$command" in
${cases.join('\n')}
  esac
  case " ${withSession.join(' ')} " in
    *" $command "*) [ "$COMP_CWORD" -eq 2 ] && words="$words $(corral ls --quiet 2>/dev/null)" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _corral corral
`
}

function zsh(): string {
  const described = COMMANDS.map((spec) => `    '${spec.name}:${quoted(spec.summary)}'`)
  const cases = COMMANDS.map((spec) => `    ${spec.name}) compadd -- ${longOptions(spec).join(' ')} ;;`)
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
  case "$words[2]" in
    ${withSession.join('|')}) (( CURRENT == 3 )) && compadd -- \${(f)"$(corral ls --quiet 2>/dev/null)"} ;;
  esac
  case "$words[2]" in
${cases.join('\n')}
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
      return `complete -c corral -n '__fish_seen_subcommand_from ${spec.name}' -l ${long} -d '${quoted(description)}'`
    }),
  ])
  const sessions = `complete -c corral -n '__fish_seen_subcommand_from ${withSession.join(' ')}' -a '(corral ls --quiet 2>/dev/null)'`
  return [
    '# corral completion for fish: corral completion fish | source',
    'complete -c corral -f',
    ...lines,
    sessions,
    '',
  ].join('\n')
}

function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', ' -')
}
