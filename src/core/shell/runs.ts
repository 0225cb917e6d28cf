import { HOLE, PART } from '../pattern.ts'
import { isUnseen, linesAfterC, scriptOf, shellWords } from './given.ts'
import { isUnseenCode } from './languages.ts'
import * as programs from './programs.ts'
import { readScript, type Script } from './script.ts'

/** What a line would run, as far as can be seen before it does. */
export interface Runs {
  /** Each command in the ways in which a rule may speak of it. Holes stand for what is not known. */
  commands: string[]
  /** Commands in a directory that is not known, with it: only a rule that names one speaks of them. */
  placed: string[]
  /** Programs in other languages, and other texts that may be run. */
  foreign: string[]
  /** There is nothing else that it may run by itself. */
  clear: boolean
}

/** Shells in shells, wrappers around wrappers. */
const MAX_DEPTH = 8
const MAX_COMMANDS = 1000
const MAX_CHARS = 256 * 1024
/** Words that may be the first of a command, and words that may come before it. */
const MAX_STARTS = 64
const MAX_BEFORE = 256
/** Words that may be what a program is to do, for which the options after it are passed over, too. */
const MAX_VERBS = 4

export function runsOf(line: string): Runs {
  const runs: Runs = { commands: [], placed: [], foreign: [], clear: true }
  read({ runs, chars: 0 }, line, 0)
  return runs
}

interface Reading {
  runs: Runs
  chars: number
}

function keep(reading: Reading, list: 'commands' | 'placed' | 'foreign', text: string): void {
  reading.chars += text.length
  if (reading.chars > MAX_CHARS || reading.runs.commands.length > MAX_COMMANDS) reading.runs.clear = false
  else reading.runs[list].push(text.replaceAll(PART, HOLE))
}

/** A text that a shell reads. */
function read(reading: Reading, line: string, depth: number): void {
  const script = readScript(line)
  if (!script.clear || depth > MAX_DEPTH) reading.runs.clear = false
  take(reading, script, depth)
}

/** A text that somebody may give to a shell. Most are none of that. */
function hear(reading: Reading, text: string, depth: number): void {
  const script = readScript(text)
  if (script.clear && depth <= MAX_DEPTH) take(reading, script, depth)
  else keep(reading, 'foreign', withoutHoles(text))
}

/** Words together, and each that may be a program with holes of its own: `system("git $X")`. */
function keepCode(reading: Reading, words: readonly string[]): void {
  keep(reading, 'foreign', withoutHoles(words.join('\n')))
  for (const word of words) if (isHidden(word) && /\s|\(/.test(word)) keep(reading, 'foreign', word)
}

const withoutHoles = (text: string): string => text.replaceAll(HOLE, ' ').replaceAll(PART, ' ')

function take(reading: Reading, { commands, texts }: Script, depth: number): void {
  for (const text of texts) if (reading.runs.clear) hear(reading, text, depth + 1)
  for (const { words, stdin } of commands) if (words.length > 0) expand(reading, words, stdin, depth)
}

/** Notes a command, and what it runs in turn. */
function expand(reading: Reading, words: readonly string[], stdin: string | null, depth: number): void {
  if (depth > MAX_DEPTH) reading.runs.clear = false
  if (!reading.runs.clear) return
  const program = programOf(words[0]!)
  note(reading, program, words)
  if (programs.isInterpreter(program)) keepCode(reading, [...words, stdin ?? ''])
  const lines = linesOf(program, words, stdin)
  const commands = program === 'find' ? commandsOfFind(words) : wrapped(program, words)
  if (lines === null || commands === null) reading.runs.clear = false
  for (const line of lines ?? []) read(reading, line, depth + 1)
  for (const inner of commands ?? []) {
    if (programs.readsAgain(program)) read(reading, inner.join(' '), depth + 1)
    else expand(reading, inner, stdin, depth + 1)
  }
  mayRun(reading, program, words, depth)
}

/** Anything behind a word such as `exec` may be a command, or a line. */
function mayRun(reading: Reading, program: string, words: readonly string[], depth: number): void {
  if (program === 'git') gitMayRun(reading, words, depth)
  const from = programs.runFrom(program, words)
  if (from === null) return
  if (words.length - from > MAX_STARTS) reading.runs.clear = false
  for (let at = from; at < words.length && reading.runs.clear; at += 1) {
    const word = words[at]!
    if (/\s/.test(word)) hear(reading, word, depth + 1)
    else if (!word.startsWith('-') && !isHidden(word)) expand(reading, words.slice(at), null, depth + 1)
  }
}

/**
 * `git for-each-repo --config=x push`, `git subtree push`, `git grep -O'less x'`, `git clone -u x`,
 * `git fetch 'ext::sh -c …'`.
 */
function gitMayRun(reading: Reading, words: readonly string[], depth: number): void {
  const inner = words.findIndex((word) => word === 'for-each-repo' || word === 'subtree')
  if (inner > 0) expand(reading, ['git', ...words.slice(inner + 1)], null, depth + 1)
  for (const word of words) {
    if (word.includes('ext::')) reading.runs.clear = false
    if (/^-[xO][^]*\s/.test(word)) hear(reading, word.slice(2), depth + 1)
  }
  const pack = words.includes('clone') ? words.findIndex((word) => word.startsWith('-u')) : -1
  if (pack > 0) hear(reading, words[pack]!.slice(2) || (words[pack + 1] ?? ''), depth + 1)
}

/** By its name alone, wherever it lies and however it is written. */
function programOf(word: string): string {
  const name = word.replace(/^[^]*[/\\]/, '').replace(/^=/, '')
  // What others have beside them, systems of Apple call `gxargs`.
  const plain = name.toLowerCase().replace(/\.exe$/, '')
  return plain.replace(/^g(?=(?:env|find|nice|nohup|stdbuf|time|timeout|xargs)$)/, '')
}

const isHidden = (text: string): boolean => text.includes(HOLE) || text.includes(PART)

/**
 * As it is, and without the options that stand before what it is to do: `git -C . push` is a `git push`, and
 * `docker compose -f x.yml down` a `docker compose down`.
 */
function note(reading: Reading, program: string, words: readonly string[]): void {
  const [first, ...rest] = words
  const add = (...all: (string | undefined)[]): void =>
    keep(reading, 'commands', all.filter((word) => word !== '').join(' '))
  // `"$DIR/bin/x"` is an `x`, but for a rule about places. Without quotes it may be several words.
  if (first!.includes(PART) && !first!.includes(HOLE) && first!.includes('/') && !isHidden(program))
    keep(reading, 'placed', words.join(' '))
  else if (first !== program) add(first!.replaceAll(/\/(?:\.?\/)+/g, '/'), ...rest)
  add(program, ...rest)
  const starts = startsAfter(program, words, 0)
  if (starts === null) reading.runs.clear = false
  for (const start of starts ?? []) {
    if (start > 1) add(program, ...words.slice(start))
    const after = starts!.length > MAX_VERBS ? [] : startsAfter(program, words.slice(start), 0)
    if (after === null) reading.runs.clear = false
    for (const next of after ?? []) if (next > 1) add(program, words[start], ...words.slice(start + next))
  }
  if (program.startsWith('git-')) add('git', program.slice('git-'.length), ...rest)
  // `git -c alias.x=push x`
  const renames = /^(?:--config-env=)?(?:alias|include|includeif)\./i
  if (program === 'git' && rest.some((word) => renames.test(word))) add('git', HOLE)
}

/** The lines that a program gives to a shell; null: it may be any. */
function linesOf(program: string, words: readonly string[], stdin: string | null): string[] | null {
  const [, ...rest] = words
  if (programs.isShell(program)) return linesOfShell(program, words, stdin)
  if (programs.takesLines(program)) {
    const lines = linesAfterC(words)
    return lines.length === 0 && programs.startsShell(program) ? inputOf(stdin) : lines
  }
  if (programs.keepsLines(program)) return rest.filter((word) => !word.startsWith('-'))
  if (program === 'parallel') return lineOfParallel(rest)
  if (program === 'source' || program === '.') return rest.length > 0 && isUnseen(rest[0]) ? null : []
  if (isUnseenCode(program, words, stdin)) return null
  if (/^(?:at|batch)$/.test(program))
    return rest.some((word) => /^-\w*[fclrd]/.test(word)) ? [] : inputOf(stdin)
  if (program === 'crontab' && rest.every((word) => word === '-')) return inputOf(stdin) && []
  if (program === 'zargs') return null
  // What a name stands for from now on is not followed.
  if (programs.givesNames(program)) return rest.some((word) => /=|^-[pf]/.test(word)) ? null : []
  if (program === 'env') return rest.some((word) => /^(?:-\w*S|--s)/.test(word)) ? null : []
  if (/^(?:sudo|doas)$/.test(program) && rest.every((word) => word.startsWith('-')))
    return rest.some((word) => /^-\w*[si]|^--(?:shell|login)/.test(word)) ? inputOf(stdin) : []
  const alone = programs.startsShell(program) && startsAfter(program, words, 1)?.length === 0
  return alone ? inputOf(stdin) : []
}

const inputOf = (stdin: string | null): string[] | null => (stdin === null ? null : [stdin])

function linesOfShell(program: string, words: readonly string[], stdin: string | null): string[] | null {
  const { lines, file, before } = shellWords(program, words)
  if (before.some(isUnseen)) return null
  if (lines.length > 0) return lines
  return file === undefined ? inputOf(stdin) : isUnseen(file) ? null : []
}

/** What it adds stands for `{}`, or comes last. Without a command each of its words is one. */
function lineOfParallel(words: readonly string[]): string[] | null {
  const end = words.findIndex((word) => /^:{3,4}\+?$/.test(word))
  const line = words.slice(0, end < 0 ? undefined : end).filter((word) => !word.startsWith('-'))
  return line.length === 0 ? null : [`${line.join(' ').replaceAll(/\{[^\s{}]*\}/g, '$x')} $x`]
}

/** The commands that a wrapper may run, and the script of a shell; null: there are too many. */
function wrapped(program: string, words: readonly string[]): string[][] | null {
  if (programs.isShell(program)) return [shellWords(program, words).script].filter(isCommand)
  if (program === 'source' || program === '.') return [scriptOf(words.slice(1))].filter(isCommand)
  const own = programs.wrapperWords(program)
  if (own === null) return []
  const starts = startsAfter(program, words, own)
  if (starts === null) return null
  return starts.map((start) => {
    const inner = words.slice(start)
    return program === 'xargs' ? withMore(words.slice(1, start), inner) : inner
  })
}

const isCommand = (words: readonly string[]): boolean => words.length > 0

/**
 * Where a command may begin behind the options and variables of a wrapper. An option may take the next word; where it is
 * not known whether it does, both are looked at. Null: there are too many.
 */
function startsAfter(program: string, words: readonly string[], own: number): number[] | null {
  const starts: number[] = []
  // For each word that can be reached: how many own words may still come.
  const reached = new Map([[1, new Set([own])]])
  const reach = (at: number, left: number): void =>
    void reached.set(at, (reached.get(at) ?? new Set()).add(left))
  for (let at = 1; at < words.length && reached.size > 0; at += 1) {
    if (at > MAX_BEFORE) return null
    const lefts = reached.get(at) ?? []
    reached.delete(at)
    for (const left of lefts) {
      const word = words[at]!
      const takes = /^-./.test(word) ? programs.takesWord(program, word) : false
      if (takes !== false) reach(at + 2, left)
      if (takes === true) continue
      // `env A.B=1 git`: there are variables with such names.
      if (/^-.|=/.test(word)) reach(at + 1, left)
      if (/^-.|^\w+=/.test(word)) continue
      if (left > 0) reach(at + 1, left - 1)
      else starts.push(at)
    }
  }
  return starts
}

/** What the words that `xargs` adds may do to a command. */
function withMore(options: readonly string[], inner: readonly string[]): string[] {
  const at = options.findIndex((word) => /^(?:-[IiJ]|--replace)/.test(word))
  if (at < 0) return [...inner, HOLE]
  const attached = /^(?:-[IiJ]|--replace=?)([^]*)$/.exec(options[at]!)![1]!
  const mark = attached || (/^-[IJ]$/.test(options[at]!) ? options[at + 1] : undefined) || '{}'
  return inner.map((word) => word.replaceAll(mark, HOLE))
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
