import type { Effort } from '../../core/effort.ts'
import type { AgentModel } from '../../core/event.ts'
import { effortNamed, effortsIn, wordFor } from '../effort.ts'
import { asArray, asObject, asString } from '../json.ts'
import { idOf, request } from './rpc.ts'

/** The option that says how long the agent thinks; which words there are depends on the model. */
export interface EffortOption {
  id: string
  words: readonly string[]
  now: string | null
}

/** Null: there is nothing to choose. */
export function effortOptionOf(configOptions: unknown): EffortOption | null {
  const option = asArray(configOptions)
    .map(asObject)
    .find(({ category }) => category === 'thought_level')
  const id = asString(option?.id)
  if (!option || id === null) return null
  const words = asArray(option.options).map((one) => asString(asObject(one).value))
  return { id, words: words.filter((word) => word !== null), now: asString(option.currentValue) }
}

/** What the model that is used now has; in a fresh conversation its choice is its own. */
export function effortsOf(
  option: EffortOption | null,
  fresh: boolean,
): Pick<AgentModel, 'efforts' | 'defaultEffort'> {
  if (!option) return {}
  const own = fresh ? effortNamed(option.now) : null
  return { efforts: effortsIn(option.words), ...(own !== null && { defaultEffort: own }) }
}

/** The line that has the agent think for so long, or again as it did by itself; empty where it cannot be told. */
export function setEffort(
  sessionId: string,
  option: EffortOption | null,
  effort: Effort | null,
  own: string | null = null,
): string[] {
  if (!option) return []
  const value = effort === null ? (own ?? 'default') : wordFor(effort, option.words)
  if (value === null || !option.words.includes(value)) return []
  const params = { sessionId, configId: option.id, value }
  return [request(idOf('effort', value), 'session/set_config_option', params)]
}
