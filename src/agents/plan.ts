import { isDeepStrictEqual } from 'node:util'
import type { AgentFact, PlanEntry } from '../core/event.ts'
import { asArray, asObject, asString } from './json.ts'

const MAX_ENTRIES = 200
const MAX_TEXT = 1000

/** Words of agents for how far something is. What was given up has none of ours, and is no part of the plan. */
const STATES: Partial<Record<string, PlanEntry['state']>> = {
  pending: 'pending',
  in_progress: 'active',
  inProgress: 'active',
  completed: 'done',
}

/** One line of a plan; null: there is nothing to do in it. */
export function planEntry(text: unknown, status: unknown): PlanEntry | null {
  const state = STATES[asString(status) ?? '']
  return typeof text === 'string' && state ? { text: text.slice(0, MAX_TEXT), state } : null
}

/** A list that an agent keeps of what it has to do; `text` is its name for the words. */
export function planOf(list: unknown, text: 'content' | 'step' | 'subject'): PlanEntry[] {
  const entries = asArray(list).map((one) => planEntry(asObject(one)[text], asObject(one).status))
  return entries.filter((entry) => entry !== null).slice(0, MAX_ENTRIES)
}

/** A plan is said when it is not the one that was said last; null: none was. */
export function planTold(last: readonly PlanEntry[] | null, entries: PlanEntry[]): AgentFact[] {
  return isDeepStrictEqual(last ?? [], entries) ? [] : [{ type: 'agent.plan', entries }]
}
