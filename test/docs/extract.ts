import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

/** Every page of the documentation, from the root. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted(),
]

export function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

/** A block of code, as it stands in a page. */
export interface Block {
  page: string
  /** Of its first line of code, from 1. */
  line: number
  /** What stands behind the fence; '' for one without a word, null for one that is only indented. */
  kind: string | null
  text: string
}

const FENCE = /^(\s*)(`{3,})(\w*)\s*$/

/** The blocks of a page, in their order. What is between a fence and its end is one, and so are indented lines after an empty one. */
export function blocksIn(page: string, text: string): Block[] {
  const blocks: Block[] = []
  let open: { indent: string; fence: string } | null = null
  let last = ''
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', fence = '', kind = ''] = FENCE.exec(line) ?? []
    if (open) {
      if (fence === open.fence && kind === '') open = null
      else blocks.at(-1)!.text += `${line.slice(open.indent.length)}\n`
    } else if (fence !== '') {
      open = { indent, fence }
      blocks.push({ page, line: index + 2, kind, text: '' })
    } else if (line.startsWith('    ') && (last === '' || last.startsWith('    '))) {
      const goesOn = last.startsWith('    ') && blocks.at(-1)?.kind === null
      if (!goesOn) blocks.push({ page, line: index + 1, kind: null, text: '' })
      blocks.at(-1)!.text += `${line.slice(4)}\n`
    }
    last = line
  }
  return blocks
}

/** What a reader types: one line of a shell, with the lines that go on with it. */
export interface Command {
  page: string
  line: number
  text: string
}

/** Programs whose name at the beginning of an indented line makes it a command. */
const TYPED = /^(corral|npm|npx)\s/

/**
 * The commands of a block. In one of `sh` all of it is; elsewhere what stands behind `$ `, and in an indented one also what begins
 * with a program of ours.
 */
export function commandsIn(block: Block): Command[] {
  const commands: Command[] = []
  let open = false
  for (const [index, line] of block.text.split('\n').entries()) {
    const typed = open ? line : typedIn(block.kind, line)
    if (typed === null || (!open && /^\s*(#|$)/.test(typed))) continue
    if (open) commands.at(-1)!.text += `\n${typed}`
    else commands.push({ page: block.page, line: block.line + index, text: typed })
    open = goesOn(commands.at(-1)!.text)
  }
  return commands.map((command) => ({ ...command, text: withoutComment(command.text) }))
}

function typedIn(kind: string | null, line: string): string | null {
  if (kind === 'sh') return line
  if (line.startsWith('$ ')) return line.slice(2)
  return kind === null && TYPED.test(line) ? line : null
}

/** The words of a command as they are written, quotes included. */
export function wordsOf(text: string): string[] {
  return text.match(/(?:'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]|[^\s'"\\])+/g) ?? []
}

/** A quote is open, or the line ends with a backslash. */
function goesOn(text: string): boolean {
  if (text.endsWith('\\')) return true
  const closed = text.replaceAll(/'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]/g, '')
  return /['"]/.test(closed)
}

function withoutComment(text: string): string {
  if (text.includes('\n')) return text
  const words = [...text.matchAll(/(?:'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]|[^\s'"\\])+/g)]
  const comment = words.find(([word], at) => at > 0 && word.startsWith('#'))
  return (comment ? text.slice(0, comment.index) : text).trim()
}

export function allBlocks(): Block[] {
  return PAGES.flatMap((page) => blocksIn(page, textOf(page)))
}
