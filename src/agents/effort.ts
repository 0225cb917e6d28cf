import { type Effort, EFFORTS, isEffort, nearestEffort } from '../core/effort.ts'

/** What is offered wherever something can be chosen at all: taken while nobody has said what there is. */
export const SAFE_EFFORTS: readonly string[] = ['low', 'medium', 'high']

/** Agents say the same words but for the first; what is beyond ours (`ultra`, `default`) is not ours to choose. */
export function effortNamed(word: unknown): Effort | null {
  if (word === 'none') return 'off'
  return isEffort(word) ? word : null
}

/** Those that the agent's words stand for, in rising order. */
export function effortsIn(words: readonly unknown[]): Effort[] {
  const named = words.map(effortNamed)
  return EFFORTS.filter((effort) => named.includes(effort))
}

/** The agent's own word for what comes closest to it; null: it has none. */
export function wordFor(wanted: Effort, words: readonly string[]): string | null {
  const nearest = nearestEffort(wanted, effortsIn(words))
  return words.find((word) => effortNamed(word) === nearest) ?? null
}
