import type { Usage } from '../../src/core/usage.ts'
import { placeName } from './session-list.ts'
import type { SessionRow } from '../client/rows.ts'
import { visibleLine } from './visible-text.ts'
import { type Approval, subjectOf } from './who.ts'

/*
 * What a row says, in words and numbers.
 */

/** What it asks first, and how much more. */
export function questionOf({ cwd }: Pick<SessionRow, 'cwd'>, asked: readonly Approval[]): string | null {
  const [first] = asked
  if (!first) return null
  const more = asked.length > 1 ? ` (and ${asked.length - 1} more)` : ''
  return `Asks: ${visibleLine(subjectOf(first)).replaceAll(`${cwd}/`, '')}${more}`
}

/** The one thing that tells most: what went wrong, what it does now, or what was said last. */
export function newsOf({
  attention,
  doing,
  lastLine,
  lastError,
  lastOutcome,
  turn,
  queued,
}: SessionRow): string {
  if (turn && doing !== null) return visibleLine(doing)
  if (attention === 'needs_you' && lastOutcome === 'failed' && lastError && !turn)
    return `Failed: ${visibleLine(lastError.message)}`
  if (lastLine !== null) return withoutMarkup(visibleLine(lastLine))
  if (turn) return 'Starting'
  return queued > 0 ? 'Waiting to start' : 'Nothing said yet'
}

/** One line of Markdown, read as text. */
export function withoutMarkup(line: string): string {
  return line.replace(/^(?:#{1,6}|[-*+>]|\d+[.)])\s+/, '').replace(/\*\*|__|`+/g, '')
}

/** How full its context is, from 0 to 100; null: it cannot be told. */
export function contextPercent({ tokens: { used, window } }: Pick<SessionRow, 'tokens'>): number | null {
  if (used === null || window === null || window <= 0) return null
  return Math.min(100, Math.round((used / window) * 100))
}

export function tokensText(count: number): string {
  if (count < 1000) return String(count)
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** Null where there is nothing to tell: it costs nothing, or nobody knows. */
export function costText(usd: number | null): string | null {
  if (usd === null || usd <= 0) return null
  if (usd < 0.01) return '<$0.01'
  return usd < 100 ? `$${usd.toFixed(2)}` : `$${Math.round(usd)}`
}

/** What it took: `12k tokens`, `$0.03`. Nothing is said of what is not known. */
export function usageWords({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  costUsd,
}: Usage): string[] {
  const used = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
  const cost = costText(costUsd)
  return [...(used > 0 ? [`${tokensText(used)} tokens`] : []), ...(cost === null ? [] : [cost])]
}

/** Where it works, for the one who knows their own directories. */
export function whereText(row: SessionRow): string {
  return row.worktree ? `${placeName(row)} (worktree)` : placeName(row)
}

/** What has happened to it, for a screen reader that reads the row as a whole. */
export const STATE_WORDS: Readonly<Record<SessionRow['attention'], string>> = {
  needs_you: 'needs you',
  working: 'working',
  done: 'done',
  snoozed: 'snoozed',
  quiet: 'quiet',
}
