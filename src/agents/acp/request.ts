import type { AgentModel } from '../../core/event.ts'
import type { Mode } from '../../core/mode.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { type EffortOption, effortOptionOf, effortsOf } from './effort.ts'

/** What the translator wants the driver to do: the conversation to be opened, or a request of the agent's answered. */
export type AcpRequest =
  | { step: 'initialized'; can: Abilities }
  /** The conversation that was asked for is not there: a fresh one is to begin. */
  | { step: 'reopen'; can: Abilities }
  | { step: 'opened'; sessionId: string; choices: Choices }
  /** Something has come while it was opening: another look is to be taken. */
  | { step: 'listen' }
  /** The agent has refused a mode; the one at this place of the profile's list is next. */
  | { step: 'mode'; mode: Mode; place: number }
  | { step: 'model'; model: string; old: boolean }
  /** Another model may think for another time than the last one. */
  | { step: 'effort'; option: EffortOption }
  /** Questions that nobody will answer now, and calls that nobody will allow. */
  | { step: 'cancel'; ids: unknown[]; calls: unknown[] }
  /** The agent has changed its mode by itself. */
  | { step: 'moved'; modeId: string; modes: string[] }
  /** A turn has ended: is that all that the agent has to say about it? */
  | { step: 'over' }
  /** The turn is not to go on. */
  | { step: 'stop' }
  /** Something that cannot be understood, or not be done. */
  | { step: 'refuse'; id: unknown; message: string }
  | { step: 'call'; id: unknown; method: string; params: JsonObject }

/** What the agent can do about conversations. */
export interface Abilities {
  resume: boolean
  directories: boolean
}

export type Setting = 'mode' | 'model' | 'effort'

/** What can be chosen in a conversation, and what is chosen now. */
export interface Choices {
  modes: string[]
  mode: string | null
  /** The option that a model is chosen by; null: by the old method, if at all. */
  modelOption: string | null
  model: string | null
  effort: EffortOption | null
  /** What has been set already, or cannot be. */
  settled: Setting[]
}

export const NO_ABILITIES: Abilities = { resume: false, directories: false }

export function abilitiesOf(capabilities: unknown): Abilities {
  const { sessionCapabilities } = asObject(capabilities)
  const { resume, additionalDirectories } = asObject(sessionCapabilities)
  const offered = (it: unknown): boolean => it !== undefined && it !== null && it !== false
  return {
    resume: offered(resume),
    directories: offered(additionalDirectories),
  }
}

/** Modes and models are options nowadays; they used to be lists of their own, and some agents send both. */
export function choicesOf({ modes, models, configOptions }: JsonObject): Choices {
  const options = asArray(configOptions).map(asObject)
  const option = (category: string): JsonObject =>
    options.find((one) => one.category === category) ?? options.find((one) => one.id === category) ?? {}
  const { availableModes, currentModeId } = asObject(modes)
  const mode = option('mode')
  const model = option('model')
  const ids = [
    ...asArray(availableModes).map((one) => asObject(one).id),
    ...asArray(mode.options).map((one) => asObject(one).value),
  ]
  return {
    modes: [...new Set(ids.filter((id) => typeof id === 'string'))],
    mode: asString(currentModeId) ?? asString(mode.currentValue),
    modelOption: asString(model.id),
    model: asString(model.currentValue) ?? asString(asObject(models).currentModelId),
    effort: effortOptionOf(configOptions),
    settled: [],
  }
}

/** What OpenCode offers may be hundreds. */
const MAX_MODELS = 500
const MAX_NAME = 200

/** The models that a conversation can have, in the newer shape or the older one. `fresh`: nothing has been chosen in it yet. */
export function modelsOf({ models, configOptions }: JsonObject, now: Choices, fresh: boolean): AgentModel[] {
  const options = asArray(configOptions).map(asObject)
  const option = options.find((one) => one.category === 'model') ?? options.find((one) => one.id === 'model')
  const offered = option
    ? asArray(option.options).flatMap(ungrouped)
    : asArray(asObject(models).availableModels)
  return offered.slice(0, MAX_MODELS).flatMap((one) => {
    const { value, modelId, name, description } = asObject(one)
    const id = asString(value) ?? asString(modelId)
    if (id === null || id.length > MAX_NAME) return []
    const about = asString(description)?.slice(0, MAX_NAME)
    return {
      id,
      name: asString(name)?.slice(0, MAX_NAME) ?? id,
      ...(about !== undefined && { description: about }),
      ...(id === now.model && effortsOf(now.effort, fresh)),
    }
  })
}

function ungrouped(option: unknown): unknown[] {
  const { group, options } = asObject(option)
  return group === undefined ? [option] : asArray(options)
}
