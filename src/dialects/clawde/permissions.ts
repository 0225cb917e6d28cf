import type { Mode } from '../../core/mode.ts'
import { NO_RULES, type Rules } from '../../core/rule.ts'
import type { Session } from '../../core/session.ts'

export const SCOPES = ['file_read', 'file_write', 'shell_exec', 'git'] as const
export type Scope = (typeof SCOPES)[number]

const TOOLS: Record<Exclude<Scope, 'file_write'>, readonly string[]> = {
  file_read: ['Read', 'Glob', 'Grep', 'LS', 'NotebookRead', 'read', 'read_file'],
  shell_exec: ['Bash', 'shell', 'exec', 'terminal', 'command'],
  git: ['Bash(git *)', 'shell(git *)', 'exec(git *)'],
}

/** What passes without a question; everything else waits for a human. Without any word about it, all passes. */
export interface Policy {
  mode: Mode
  rules: Rules
}

export function policyOf(scopes: readonly Scope[] | null): Policy {
  if (scopes === null || SCOPES.every((scope) => scopes.includes(scope)))
    return { mode: 'auto', rules: NO_RULES }
  const named = scopes.filter((scope) => scope !== 'file_write')
  const edits = scopes.includes('file_write')
  const allow = named.flatMap((scope) => TOOLS[scope])
  return { mode: edits ? 'code' : 'ask', rules: { ...NO_RULES, allow, acceptEdits: edits } }
}

/** What a session was told; null: everything passes. */
export function scopesOf({ mode, rules }: Pick<Session, 'mode' | 'rules'>): Scope[] | null {
  if (mode === 'auto') return null
  const has = (scope: Exclude<Scope, 'file_write'>): boolean =>
    TOOLS[scope].every((rule) => rules.allow.includes(rule))
  return SCOPES.filter((scope) =>
    scope === 'file_write' ? mode === 'code' || rules.acceptEdits : has(scope),
  )
}
