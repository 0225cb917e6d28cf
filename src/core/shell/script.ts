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
import { HOLE } from '../pattern.ts'

/** A command as it is written, with one space between its words. */
export interface ShellCommand {
  source: string
  /** Without quotes; a hole stands for what only the shell will know. */
  words: string[]
  /** It sets no variables and writes to no file. */
  plain: boolean
  /** What it reads from a here-document or a here-string. */
  stdin: string | null
}

export interface Script {
  /** Every command in it, at any depth. */
  commands: ShellCommand[]
  /** All of it was understood. */
  clear: boolean
  /** Nothing around its commands writes to a file. */
  plain: boolean
}

/** Longer ones nobody reads. */
const MAX_LENGTH = 64 * 1024
const MAX_COMMANDS = 1000

/** What a shell would make of a text, without running anything. */
export function readScript(text: string): Script {
  const script: Script = { commands: [], clear: true, plain: true }
  if (text.length > MAX_LENGTH || text.includes(HOLE)) return { ...script, clear: false }
  look(parse(text), script)
  return script
}

function look(node: SyntaxNode, script: Script): void {
  if (script.commands.length >= MAX_COMMANDS) script.clear = false
  if (!script.clear) return
  if (isRiddle(node)) script.clear = false
  if (node.type === 'Redirected' && !node.redirects.every(isHarmless)) script.plain = false
  if (node.type === 'Command') script.commands.push(commandOf(node))
  forEachChild(node, (child) => look(child, script))
}

/** Errors, and what other shells than bash take for code (`*(e:'rm x':)` in zsh) or bash itself evaluates (`${x@P}`). */
function isRiddle(node: SyntaxNode): boolean {
  if (node.type === 'Script') return (node.errors?.length ?? 0) > 0
  return node.type === 'ExtendedGlob' || node.type === 'Transform' || node.type === 'Unknown'
}

function commandOf({ name, args, prefix, redirects }: Command): ShellCommand {
  const words = [...(name ? [name] : []), ...args]
  return {
    source: words.map(({ text }) => text).join(' '),
    words: words.map(valueOf),
    plain:
      name !== undefined && redirects.every(isHarmless) && prefix.every((one) => one.type !== 'Assignment'),
    stdin: redirects.map(stdinOf).findLast((text) => text !== null) ?? null,
  }
}

/** `2>&1`, `> /dev/null`. */
function isHarmless(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect') return false
  const target = redirect.target ? wordText(redirect.target) : ''
  return target === '/dev/null' || (/^[<>]&$/.test(redirect.operator) && /^(?:\d+|-)$/.test(target))
}

function stdinOf(redirect: Redirection): string | null {
  if (redirect.type === 'HereString') return redirect.target ? wordText(redirect.target) : ''
  if (redirect.type !== 'HereDoc') return null
  const { text, parts } = redirect.body
  return redirect.delimiter?.quoted || !parts ? text : parts.map(partText).join('')
}

function valueOf(argument: CommandArgument): string {
  if (argument.type === 'Word') return wordText(argument)
  const { name, value } = argument
  return `${name}=${value.type === 'Word' ? wordText(value) : HOLE}`
}

function wordText({ value, parts }: Word): string {
  return parts ? parts.map(partText).join('') : value
}

function partText(part: WordPart): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map(partText).join('')
    default:
      return HOLE
  }
}
