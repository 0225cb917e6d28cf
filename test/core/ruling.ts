import type { About } from '../../src/core/about.ts'
import { NO_RULES, ruleDecision, type Rules } from '../../src/core/rule.ts'
import { aQuestion } from '../support/session.ts'

export const WHERE = { now: 0, cwd: '/srv/app' }

/** What rules make of a call. */
export function says(rules: Partial<Rules>, tool: string, input: unknown, about?: About): string {
  const question = aQuestion('a', { tool, input, ...(about && { about }) })
  return ruleDecision([{ ...NO_RULES, ...rules }], question, WHERE)?.behavior ?? 'nothing'
}
