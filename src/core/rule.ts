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
  if (approval.kind !== 'tool') return null
  const denied = rules.flatMap(({ deny }) => deny).find((rule) => matches(rule, approval))
  if (denied) return { behavior: 'deny', comment: `Not allowed here (rule ${denied}).` }
  const allowed = rules.some(
    ({ allow, acceptEdits, skipUntil }) =>
      (skipUntil !== null && skipUntil > now) ||
      (acceptEdits && approval.edits) ||
      allow.some((rule) => matches(rule, approval)),
  )
  return allowed ? { behavior: 'allow' } : null
}

/** The rule that lets the same thing pass the next time. */
export function ruleFor(approval: Approval): string {
  const subject = subjectOf(approval.input)
  return subject === null || approval.edits ? approval.tool : `${approval.tool}(${subject})`
}

function matches(rule: string, { tool, input }: Approval): boolean {
  const [, name = rule, pattern] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? []
  if (!fits(name, tool)) return false
  if (pattern === undefined) return true
  const subject = subjectOf(input)
  return subject !== null && fits(pattern, subject)
}

/** Linear in both lengths: a pattern is split at its stars and its pieces are looked for in order. */
function fits(pattern: string, text: string): boolean {
  const [head = '', ...pieces] = pattern.split('*')
  if (pieces.length === 0) return pattern === text
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

/** What a tool call is about, in one line: the command, the file, the address. */
function subjectOf(input: unknown): string | null {
  if (typeof input !== 'object' || input === null) return null
  for (const key of ['command', 'file_path', 'path', 'notebook_path', 'url', 'pattern']) {
    const value = (input as Record<string, unknown>)[key]
    if (typeof value === 'string') return value
  }
  return null
}
