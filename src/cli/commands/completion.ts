import { MODES } from '../../core/mode.ts'
import { KEY_NAMES, PROVIDERS } from '../../core/signin.ts'
import type { Command } from '../cli.ts'
import { EFFORT_WORDS } from '../options.ts'
import { STATES } from '../session-list.ts'
import { CliError, EXIT } from '../exit.ts'
import { COMMANDS as ALL, namesOf, NOUNS } from '../program.ts'
import { COMMON, type CommandSpec } from '../program/spec.ts'

export const completion: Command = async (cli, [shell]) => {
  const script = { bash, zsh, fish }[String(shell)]
  if (!script)
    throw new CliError(`there is no completion for ${String(shell)}; use bash, zsh or fish`, EXIT.usage)
  cli.stdout.write(script())
}

/** Shell commands that print the values of an option, one a line. */
const VALUES: Readonly<Record<string, string>> = {
  '--mode': printing(MODES),
  '--effort': printing(EFFORT_WORDS),
  '--state': printing(STATES),
  '--agent': 'corral agent ls --quiet 2>/dev/null',
}

const DIRECTORIES = ['--home', '--cwd', '--repo', '--root', '--directory']

/** Prints ids and titles, with a tab between. */
const SESSIONS = 'corral ls --titles --limit 500 2>/dev/null'

/** Shell commands that print what the first argument may be; by its name in `CommandSpec.args`. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  session: SESSIONS,
  approval: 'corral approval ls --quiet 2>/dev/null',
  device: 'corral device ls --quiet 2>/dev/null',
  project: 'corral project ls --quiet 2>/dev/null',
  worktree: 'corral worktree ls --quiet 2>/dev/null',
  agent: 'corral agent ls --quiet 2>/dev/null',
  service: printing([...PROVIDERS, ...KEY_NAMES]),
  server: printing(['approvals']),
  shell: printing(['bash', 'zsh', 'fish']),
}

function printing(words: readonly string[]): string {
  return `printf "%s\\n" ${words.join(' ')}`
}

interface Entry extends Pick<CommandSpec, 'name' | 'args' | 'summary'> {
  options: NonNullable<CommandSpec['options']>
}

/** Every name that completion offers. */
const COMMANDS: readonly Entry[] = [
  ...NOUNS.map(({ name, summary }) => ({ name, args: '', summary, options: [] })),
  ...ALL.flatMap((spec) => {
    const options = [...(spec.options ?? []).filter(([, , kind]) => kind !== 'old'), ...COMMON]
    return namesOf(spec).map((name) => ({ name, args: spec.args, summary: spec.summary, options }))
  }),
]

interface Argument {
  commands: string[]
  print: string
}

/** Commands by the kind of their first argument; commands that take several of it are separate. */
function argumentsOf(several: boolean): Argument[] {
  return Object.entries(ARGUMENTS).flatMap(([name, print]) => {
    const first = several ? [`<${name}...>`] : [`<${name}>`, `[${name}]`]
    const fitting = COMMANDS.filter((spec) => first.includes(spec.args.split(' ')[0]!))
    const commands = fitting.map((spec) => spec.name)
    return commands.length > 0 ? [{ commands, print }] : []
  })
}

const one = argumentsOf(false)
const many = argumentsOf(true)
/** Verbs of nouns: `device rm`. */
const inner = COMMANDS.filter((spec) => spec.name.includes(' '))
const outer = COMMANDS.filter((spec) => !spec.name.includes(' '))
const nouns = NOUNS.map(({ name }) => name)

/** The verbs that a noun has. */
function innerNames({ name }: { name: string }): string[] {
  return inner.flatMap((spec) => (spec.name.startsWith(`${name} `) ? spec.name.split(' ').slice(1) : []))
}

/** The names as a pattern of `case`. */
function anyOf(names: readonly string[]): string {
  return names.map((name) => (name.includes(' ') ? `"${name}"` : name)).join('|')
}

const innerPattern = anyOf(inner.map((spec) => spec.name))

function longOptions({ options }: Entry): string[] {
  return options.flatMap(([flags]) => /--[a-z-]+/.exec(flags) ?? [])
}

function bash(): string {
  const options = COMMANDS.map(
    (spec) =>
      `    ${anyOf([spec.name])}) words="${[...innerNames(spec), ...longOptions(spec)].join(' ')}" ;;`,
  )
  const values = Object.entries(VALUES).map(
    ([option, print]) => `    ${option}) COMPREPLY=($(compgen -W "$(${print})" -- "$current")); return ;;`,
  )
  const offer = (print: string): string => (print === SESSIONS ? 'sessions=1' : `words="$words $(${print})"`)
  const first = one.map(
    ({ commands, print }) => `    ${anyOf(commands)}) [ "$COMP_CWORD" -eq "$first" ] && ${offer(print)} ;;`,
  )
  const each = many.map(({ commands, print }) => `    ${anyOf(commands)}) ${offer(print)} ;;`)
  return `# corral completion for bash: source <(corral completion bash)
# Titles are shown as long as several sessions fit; only the id is put into the line.
_corral_sessions() {
  local line
  while IFS= read -r line; do
    [[ "\${line%%$'\\t'*}" == "$1"* ]] && COMPREPLY+=("\${line%%$'\\t'*}  \${line#*$'\\t'}")
  done < <(${SESSIONS})
  [ "\${#COMPREPLY[@]}" -eq 1 ] && COMPREPLY=("\${COMPREPLY[0]%% *}")
  return 0
}
_corral() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words="" first=2 sessions=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${outer.map((spec) => spec.name).join(' ')}" -- "$current"))
    return
  fi
  case "$command \${COMP_WORDS[2]}" in
    ${innerPattern}) [ "$COMP_CWORD" -gt 2 ] && { command="$command \${COMP_WORDS[2]}"; first=3; } ;;
  esac
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
  [ -z "$sessions" ] || [[ "$current" == -* ]] || { COMPREPLY=(); _corral_sessions "$current"; }
}
complete -F _corral corral
`
}

function zsh(): string {
  const described = outer.map((spec) => `    '${spec.name}:${quoted(spec.summary)}'`)
  const options = COMMANDS.map(
    (spec) =>
      `    ${anyOf([spec.name])}) compadd -- ${[...innerNames(spec), ...longOptions(spec)].join(' ')} ;;`,
  )
  const lines = (print: string): string =>
    print === SESSIONS ? '_corral_sessions' : `compadd -- \${(f)"$(${print})"}`
  const values = Object.entries(VALUES).map(([option, print]) => `    ${option}) ${lines(print)}; return ;;`)
  const first = one.map(
    ({ commands, print }) => `    ${anyOf(commands)}) (( CURRENT == first )) && ${lines(print)} ;;`,
  )
  const each = many.map(({ commands, print }) => `    ${anyOf(commands)}) ${lines(print)} ;;`)
  return `#compdef corral
# corral completion for zsh: source <(corral completion zsh)
_corral_sessions() {
  local -a found
  found=(\${(f)"$(${SESSIONS})"})
  found=("\${(@)found//:/ }")
  found=("\${(@)found/$'\\t'/:}")
  _describe -V session found
}
_corral() {
  local command="$words[2]" first=3
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$command $words[3]" in
    ${innerPattern}) (( CURRENT > 3 )) && { command="$command $words[3]"; first=4 } ;;
  esac
  case "$words[CURRENT-1]" in
    ${DIRECTORIES.join('|')}) _directories; return ;;
${values.join('\n')}
  esac
  case "$command" in
${[...first, ...each].join('\n')}
  esac
  case "$command" in
${options.join('\n')}
  esac
}
compdef _corral corral
`
}

function fish(): string {
  const lines = COMMANDS.flatMap((spec) => [
    `complete -c corral -n '${before(spec)}' -a ${spec.name.split(' ').at(-1)} -d '${quoted(spec.summary)}'`,
    ...spec.options.map(([flags, description]) => {
      const long = /--([a-z-]+)/.exec(flags)?.[1] ?? ''
      return `complete -c corral -n '${seen(spec.name)}' -l ${long}${fishValue(flags, long)} -d '${quoted(description)}'`
    }),
  ])
  const first = [...one, ...many].flatMap(({ commands, print }) =>
    commands.map((name) => `complete -c corral -n '${seen(name)}' -a '(${print})'`),
  )
  return [
    '# corral completion for fish: corral completion fish | source',
    'complete -c corral -f',
    ...lines,
    ...first,
    '',
  ].join('\n')
}

/** A short command such as `rm` is not the verb of another noun. */
function seen(name: string): string {
  const words = name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
  const isShort = words.length === 1 && !nouns.includes(name)
  return [...words, ...(isShort ? [`not __fish_seen_subcommand_from ${nouns.join(' ')}`] : [])].join('; and ')
}

/** The condition under which fish offers the name of a command. */
function before({ name }: Entry): string {
  const spec = outer.find((one) => name.startsWith(`${one.name} `))
  if (!spec) return '__fish_use_subcommand'
  return `${seen(spec.name)}; and not __fish_seen_subcommand_from ${innerNames(spec).join(' ')}`
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
