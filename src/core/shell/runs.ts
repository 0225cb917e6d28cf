import { HOLE } from '../pattern.ts'
import { addsWords, isInterpreter, isShell, readsAgain, takesLines, wrapperWords } from './programs.ts'
import { readScript } from './script.ts'

/** What a line would run, as far as can be seen before it does. */
export interface Runs {
  /** Each command in the ways in which a rule may speak of it. Holes stand for what is not known. */
  commands: string[]
  /** Programs in other languages that were given on the line. */
  foreign: string[]
  /** There is nothing else that it may run by itself. */
  clear: boolean
}

/** Shells in shells, wrappers around wrappers. */
const MAX_DEPTH = 8
const MAX_COMMANDS = 5000

export function runsOf(line: string): Runs {
  const runs: Runs = { commands: [], foreign: [], clear: true }
  readInto(runs, line, 0)
  return runs
}

function readInto(runs: Runs, line: string, depth: number): void {
  const { commands, clear } = readScript(line)
  if (!clear || depth > MAX_DEPTH) runs.clear = false
  for (const { words, stdin } of commands) {
    if (words.length > 0) expand(runs, words, stdin, depth)
  }
}

/** Notes a command, and what it runs in turn. */
function expand(runs: Runs, words: readonly string[], stdin: string | null, depth: number): void {
  if (runs.commands.length > MAX_COMMANDS || depth > MAX_DEPTH) runs.clear = false
  if (!runs.clear) return
  const program = programOf(words[0]!)
  note(runs, program, words)
  if (isInterpreter(program)) runs.foreign.push([...words, stdin ?? ''].join('\n'))
  const read = (line: string): void => readInto(runs, line, depth + 1)
  const run = (inner: readonly string[]): void => expand(runs, inner, stdin, depth + 1)
  if (isShell(program)) shellRuns(runs, words, stdin).forEach(read)
  else if (takesLines(program)) linesAfterC(words).forEach(read)
  else if (program === 'trap') words.slice(1, 2).forEach(read)
  else if (program === 'find') commandsOfFind(words).forEach(run)
  else if ((program === 'source' || program === '.') && isUnseen(words[1])) runs.clear = false
  // What a name stands for from now on is not followed.
  else if (program === 'alias' && words.some((word) => word.includes('='))) runs.clear = false
  const own = wrapperWords(program)
  if (own === null) return
  if (program === 'env' && words.some((word) => /^(?:-\w*S|--split-string)/.test(word))) runs.clear = false
  for (const start of startsAfter(words, own)) {
    const inner = words.slice(start)
    if (readsAgain(program)) read(inner.join(' '))
    else run(addsWords(program) ? withMore(program, words.slice(0, start), inner) : inner)
  }
}

/** By its name alone, wherever it lies and however it is written. */
function programOf(word: string): string {
  const name = word.slice(word.lastIndexOf('/') + 1).replace(/^=/, '')
  return name.toLowerCase()
}

/** As it is, and without the options that stand before what it is to do: `git -C . push` is a `git push`. */
function note(runs: Runs, program: string, words: readonly string[]): void {
  const [first, ...rest] = words
  runs.commands.push([first, ...rest].join(' '), [program, ...rest].join(' '))
  for (const start of startsAfter(words, 0)) {
    if (start > 1) runs.commands.push([program, ...words.slice(start)].join(' '))
  }
  // `git -c alias.x=push x`
  if (program === 'git' && rest.some((word) => word.startsWith('alias.'))) runs.commands.push(`git ${HOLE}`)
}

/**
 * Where a command may begin behind the options and variables of a wrapper. An option may take the next word; which do is
 * different for each, so both are looked at.
 */
function startsAfter(words: readonly string[], own: number): number[] {
  const starts = new Set<number>()
  const seen = new Set<string>()
  const from = (at: number, left: number): void => {
    const word = words[at]
    if (word === undefined || seen.has(`${at} ${left}`)) return
    seen.add(`${at} ${left}`)
    const isOption = /^-./.test(word)
    if (isOption) from(at + 2, left)
    if (isOption || /^\w+=/.test(word)) from(at + 1, left)
    else if (left > 0) from(at + 1, left - 1)
    else starts.add(at)
  }
  from(1, own)
  return [...starts]
}

/** What the words that `xargs` adds may do to a command. */
function withMore(program: string, options: readonly string[], inner: readonly string[]): string[] {
  const replaces = program === 'parallel' || options.some((word) => /^(?:-[Ii]|--replace)/.test(word))
  return replaces ? [inner[0]!.replaceAll('{}', HOLE), HOLE] : [...inner, HOLE]
}

/** The lines that a shell is given. One that reads them from somewhere else may run anything. */
function shellRuns(runs: Runs, words: readonly string[], stdin: string | null): string[] {
  const lines = linesAfterC(words)
  if (lines.length > 0) return lines
  const file = words.slice(1).find((word) => !/^[-+]./.test(word))
  if (file !== undefined && !isUnseen(file)) return []
  if (stdin !== null && file === undefined) return [stdin]
  runs.clear = false
  return []
}

/** `-c 'line'`, `-lc 'line'`, `-c -e 'line'`, `--command=line`. */
function linesAfterC(words: readonly string[]): string[] {
  const equals = words.flatMap((word) => /^--command=([^]*)$/.exec(word)?.[1] ?? [])
  const at = words.findIndex((word, i) => i > 0 && /^(?:-[a-z]*c[a-z]*|--command|-command)$/i.test(word))
  if (at < 0) return equals
  return [
    ...equals,
    ...words
      .slice(at + 1)
      .filter((word) => !/^[-+]./.test(word))
      .slice(0, 1),
  ]
}

/** A file whose contents come from this very line. */
function isUnseen(file: string | undefined): boolean {
  return file === undefined || file === '-' || file.includes(HOLE) || file.startsWith('/dev/')
}

function commandsOfFind(words: readonly string[]): string[][] {
  return words.flatMap((word, at) => {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(word)) return []
    const rest = words.slice(at + 1)
    const end = rest.findIndex((one) => one === ';' || one === '+')
    const command = rest.slice(0, end < 0 ? undefined : end).map((one) => one.replaceAll('{}', HOLE))
    return command.length > 0 ? [command] : []
  })
}
