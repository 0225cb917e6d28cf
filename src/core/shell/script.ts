import {
  forEachChild,
  parse,
  type Command,
  type CommandArgument,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash'
import { HOLE, PART } from '../pattern.ts'

/** A command as it is written, with one space between its words. */
export interface ShellCommand {
  source: string
  /** Without quotes; holes stand for what only the shell will know. */
  words: string[]
  /** It sets no variables and writes to no file. */
  plain: boolean
  /** What it reads from a here-document or a here-string. */
  stdin: string | null
}

export interface Script {
  /** Every command in it, at any depth. */
  commands: ShellCommand[]
  /** Texts that may be run later, or by another shell than bash: values of variables, subscripts, `((a b))`. */
  texts: string[]
  /** All of it was understood. */
  clear: boolean
  /** There is nothing around its commands that does something by itself: it only puts them in order. */
  plain: boolean
}

/** Longer ones nobody reads. */
const MAX_LENGTH = 64 * 1024
const MAX_COMMANDS = 1000
const MAX_TEXTS = 256
/** Substitutions in substitutions. The parser reads the text anew for each. */
const MAX_DEPTH = 12
/** For each of these the parser may look through the whole rest. */
const OPENING = /(?<!\$)\{[^\s}]|\$[[({]|[`(]|<</g
const MAX_LOOKS = 8_000_000

/** What a shell would make of a text, without running anything. */
export function readScript(text: string): Script {
  const script: Script = { commands: [], texts: [], clear: true, plain: true }
  const unread: Script = { ...script, clear: false }
  if (text.length > MAX_LENGTH || text.includes(HOLE) || text.includes(PART)) return unread
  if ((text.match(OPENING)?.length ?? 0) * text.length > MAX_LOOKS) return unread
  try {
    look(parse(text), script, 0)
  } catch {
    // The parser gives up on some texts that are nested too deeply.
    return unread
  }
  return script
}

function look(node: SyntaxNode, script: Script, depth: number): void {
  const tooMuch = script.commands.length >= MAX_COMMANDS || script.texts.length >= MAX_TEXTS
  if (tooMuch || depth > MAX_DEPTH || isRiddle(node)) script.clear = false
  if (!script.clear) return
  if (!isOrder(node)) script.plain = false
  if (node.type === 'Command') script.commands.push(commandOf(node))
  script.texts.push(...textsIn(node))
  const below = node.type === 'Script' ? depth + 1 : depth
  forEachChild(node, (child) => look(child, script, below))
}

/**
 * Errors, what bash itself evaluates (`${x@P}`), and what other shells read otherwise: `*(e:'rm x':)` is code in zsh,
 * `$'\''` ends elsewhere in dash, as does `"${x:-'}"`; `$"x"` is the text `$x` in both.
 */
function isRiddle(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'Script':
      return (node.errors?.length ?? 0) > 0
    case 'AnsiCQuoted':
      return node.text.includes("\\'")
    // In arithmetic they do not quote.
    case 'ArithmeticWord':
      return (node.parts ?? []).some((one) => one.type === 'SingleQuoted' && /\$|`/.test(one.value))
    case 'DoubleQuoted':
    case 'HereDocBody':
      return (node.parts ?? []).some((one) => one.type === 'ParameterExpansion' && one.text.includes("'"))
    default:
      return /^(?:ExtendedGlob|LocaleString|Transform|Unknown)$/.test(node.type)
  }
}

/** What may stand around commands that are allowed. Loops, functions, tests and arithmetic may set variables, or run something. */
const ORDERS: ReadonlySet<SyntaxNode['type']> = new Set([
  ...(['Script', 'Statement', 'CompoundList', 'AndOr', 'Pipeline', 'Time', 'Negation', 'Command'] as const),
  ...([
    'If',
    'Elif',
    'While',
    'Subshell',
    'BraceGroup',
    'Redirect',
    'FileDescriptor',
    'Redirected',
    'Case',
    'CaseItem',
  ] as const),
  ...(['Word', 'Literal', 'SingleQuoted', 'DoubleQuoted', 'AnsiCQuoted', 'Glob'] as const),
  ...(['BraceExpansion', 'SimpleExpansion', 'ParameterExpansion', 'CommandExpansion'] as const),
  'ProcessSubstitution',
])

function isOrder(node: SyntaxNode): boolean {
  if (node.type === 'Redirect') return isHarmless(node)
  // A subscript is evaluated; in zsh `$x[…]` is one as well.
  if (node.type === 'Word') return !/\$[^]*\[/.test(node.text) && !isEvaluated(wordText(node))
  if (node.type === 'ParameterExpansion') return !node.operation && !node.index && node.prefix !== '!'
  return ORDERS.has(node.type)
}

/** `a[$(x)]`: builtins and arithmetic run what a subscript says, in quotes or not. */
function isEvaluated(text: string): boolean {
  return /\[[^]*(?:\$\(|`)/.test(text)
}

function textsIn(node: SyntaxNode): string[] {
  switch (node.type) {
    case 'Assignment':
      return node.value.type === 'Word' ? valueTexts(node.name, wordText(node.value)) : []
    // Two subshells, for dash.
    case 'ArithmeticCommand':
      return [node.body]
    case 'Word':
    case 'ArithmeticWord': {
      const text = wordText(node)
      const [, name, value] = /^([\w.-]+)=([^]*)$/.exec(text) ?? []
      return [...(isEvaluated(text) ? [text] : []), ...(name ? valueTexts(name, value!) : [])]
    }
    default:
      return []
  }
}

/** Settings of git may give any name to any command, as do some variables of zsh. */
function valueTexts(name: string, value: string): string[] {
  if (/^(?:commands|functions|\w?aliases)$/.test(name)) return [value, '$x']
  if (name.startsWith('GIT_CONFIG')) return [value, 'git $x']
  // `credential.helper=!git push`
  return [value.replace(/^!/, '')]
}

function commandOf({ name, args, prefix, redirects }: Command): ShellCommand {
  const words = [...(name ? [name] : []), ...args]
  return {
    source: words.map(({ text }) => text).join(' '),
    words: words.map(valueOf),
    plain: name !== undefined && prefix.every((one) => one.type !== 'Assignment'),
    stdin: stdinOf(redirects),
  }
}

/** `2>&1`, `> /dev/null`. */
function isHarmless(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect' || redirect.descriptor?.type === 'FileDescriptorVariable') return false
  const target = redirect.target ? wordText(redirect.target) : ''
  return target === '/dev/null' || (/^[<>]&$/.test(redirect.operator) && /^(?:\d+|-)$/.test(target))
}

/** Where there are several, nobody knows which of them counts in which shell. */
function stdinOf(redirects: readonly Redirection[]): string | null {
  const inputs = redirects.filter(({ operator, descriptor }) => {
    const into = descriptor === undefined ? 0 : descriptor.type === 'FileDescriptor' ? descriptor.value : null
    return operator.startsWith('<') && into === 0
  })
  const [input] = inputs
  if (input === undefined || inputs.length > 1 || input.type === 'Redirect') return null
  if (input.type === 'HereString') return input.target ? wordText(input.target) : ''
  const { text, parts } = input.body
  return input.delimiter?.quoted || !parts ? text : parts.map((part) => partText(part, PART)).join('')
}

function valueOf(argument: CommandArgument): string {
  if (argument.type === 'Word') return wordText(argument)
  const { name, value } = argument
  return `${name}=${value.type === 'Word' ? wordText(value) : HOLE}`
}

function wordText(word: Pick<Word, 'value' | 'parts'> & { text?: string }): string {
  const text = word.parts ? word.parts.map((part) => partText(part, HOLE)).join('') : word.value
  return word.text?.startsWith('~') ? text.replace(/^~[^/]*/, PART) : text
}

/** What is in quotes stays one word. */
function partText(part: WordPart, hole: string): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      // But `"$@"` is many words, as is what zsh writes with signs (`"${=x}"`).
      return part.parts.map((one) => partText(one, /@|^\$\{\W/.test(one.text) ? HOLE : PART)).join('')
    case 'ProcessSubstitution':
      return `/dev/fd/${PART}`
    default:
      return hole
  }
}
