import type { Approval, Decision } from './approval.ts'

/**
 * What a session's people have decided once and for all. A rule names a tool, with `*` for any run of characters, and may
 * ask for a pattern in what the tool is about to do: `Edit`, `mcp__files__*`, `Bash(git *)`, `Write(/tmp/*)`.
 */
export interface Rules {
  allow: string[]
  deny: string[]
  /** Edits of files pass. */
  acceptEdits: boolean
  /** Everything passes until this time; null: not at all. */
  skipUntil: number | null
}

/** The last moment that a date can name: how `skipUntil` says for ever. */
export const FOR_EVER = 8_640_000_000_000_000

export const NO_RULES: Rules = Object.freeze({ allow: [], deny: [], acceptEdits: false, skipUntil: null })

/** What the rules say about a request; null when they say nothing. A denial wins over everything that allows. */
export function ruleDecision(rules: readonly Rules[], approval: Approval, now: number): Decision | null {
  const skips = rules.some(({ skipUntil }) => skipUntil !== null && skipUntil > now)
  if (approval.kind === 'plan' && skips) return { behavior: 'allow' }
  if (approval.kind !== 'tool') return null
  const denied = rules.flatMap(({ deny }) => deny).find((rule) => denies(rule, approval))
  if (denied) return { behavior: 'deny', comment: `Not allowed here (rule ${denied}).` }
  const allowed =
    skips ||
    rules.some(
      ({ allow, acceptEdits }) =>
        (acceptEdits && approval.edits) || allow.some((rule) => allows(rule, approval)),
    )
  return allowed ? { behavior: 'allow' } : null
}

/** The rule that lets the same thing, and nothing else, pass the next time; of edits, all that this tool makes. */
export function ruleFor({ tool, input, edits }: Approval): string {
  const subject = subjectOf(input)
  return subject === null || edits ? tool : `${tool}(${subject.text.replace(/[\\*]/g, '\\$&')})`
}

/** `*` does not reach over into another command: `Bash(npm test*)` does not let `npm test; rm -rf ~` pass. */
function allows(rule: string, { tool, input }: Approval): boolean {
  const { name, pattern } = parse(rule)
  if (!fits(name, tool)) return false
  if (pattern === null) return true
  const subject = subjectOf(input)
  if (subject === null || !fits(pattern, subject.text)) return false
  return pattern === '*' || subject.kind !== 'command' || joints(pattern) === joints(subject.text)
}

/** A command is refused for any part of it. */
function denies(rule: string, { tool, input }: Approval): boolean {
  const { name, pattern } = parse(rule)
  if (!fits(name, tool)) return false
  if (pattern === null) return true
  const subject = subjectOf(input)
  if (subject === null) return false
  const parts = subject.kind === 'command' ? subject.text.split(JOINT).map((part) => part.trim()) : []
  return [subject.text, ...parts].some((text) => fits(pattern, text))
}

/** What joins commands, redirects them, or puts one into another. */
const JOINT = /\$\(|[;&|<>`\n()]+/

function joints(command: string): string {
  return (command.match(new RegExp(JOINT, 'g')) ?? []).join(' ')
}

function parse(rule: string): { name: string; pattern: string | null } {
  const [, name = rule, pattern = null] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? []
  return { name, pattern }
}

/** Linear in both lengths: a pattern is split at its stars and its pieces are looked for in order. */
function fits(pattern: string, text: string): boolean {
  const [head = '', ...pieces] = split(pattern)
  if (pieces.length === 0) return head === text
  if (!text.startsWith(head)) return false
  const last = pieces.pop()!
  let at = head.length
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** What stands between the stars; a star that is meant as itself has a backslash before it, and so has a backslash. */
function split(pattern: string): string[] {
  const pieces = ['']
  for (const [token] of pattern.matchAll(/\\[\\*]|[^]/g)) {
    if (token === '*') pieces.push('')
    else pieces.push(pieces.pop()! + (token.length > 1 ? token[1]! : token))
  }
  return pieces
}

interface Subject {
  text: string
  kind: 'command' | 'path' | 'other'
}

const SUBJECTS: Record<string, Subject['kind']> = {
  command: 'command',
  file_path: 'path',
  path: 'path',
  notebook_path: 'path',
  url: 'other',
  pattern: 'other',
}

/** What a tool call is about, in one line: the command, the file, the address. */
function subjectOf(input: unknown): Subject | null {
  if (typeof input !== 'object' || input === null) return null
  for (const [key, kind] of Object.entries(SUBJECTS)) {
    const value = (input as Record<string, unknown>)[key]
    if (typeof value === 'string') return { kind, text: kind === 'path' ? straight(value) : value }
  }
  return null
}

/** Without detours: `/tmp/../etc` is not below `/tmp`. */
function straight(path: string): string {
  if (!/(^|\/)\.{1,2}(\/|$)|\/\//.test(path)) return path
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '..' && steps.length > 0 && steps.at(-1) !== '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  return (path.startsWith('/') ? '/' : '') + steps.join('/')
}
