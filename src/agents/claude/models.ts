import type { AgentModel } from '../../core/event.ts'
import { effortsIn } from '../effort.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'

const MAX_MODELS = 100
/** Claude's name for its own choice, which is no model. */
const OWN_CHOICE = 'default'

/** In the answer to `list_models`, and to `initialize`, which tells them beside much else. */
export function modelsTold(body: JsonObject): DriverOutput[] {
  const models = asArray(body.models).slice(0, MAX_MODELS).flatMap(modelOf)
  return models.length > 0 ? [{ type: 'models.told', models }] : []
}

function modelOf(told: unknown): AgentModel[] {
  const { value, displayName, description, supportsEffort, supportedEffortLevels } = asObject(told)
  const id = asString(value)
  if (id === null || id === OWN_CHOICE) return []
  const efforts = supportsEffort === false ? [] : effortsIn(asArray(supportedEffortLevels))
  const about = asString(description)
  return [
    {
      id,
      name: asString(displayName) ?? id,
      ...(about !== null && { description: about }),
      ...((efforts.length > 0 || supportsEffort === false) && { efforts }),
    },
  ]
}
