import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk/unstable'
import { MODES, type Mode } from '../../core/mode.ts'
import type { NamedModel } from './port.ts'

/** What can be chosen for a session, and what is. */
export interface Chosen {
  mode: Mode
  model: string | null
  /** The model that the agent says it uses: not the chosen one if that was left to it, or was not to be had. */
  modelInUse: string | null
}

const DESCRIPTIONS: Record<Mode, { name: string; description: string }> = {
  auto: { name: 'Auto', description: 'Everything is allowed' },
  code: { name: 'Code', description: 'Edits of files are allowed, everything else is asked' },
  plan: { name: 'Plan', description: 'Reading only' },
  ask: { name: 'Ask', description: 'Everything is asked' },
}

/** Stands for the model that the agent takes by itself. */
const DEFAULT_MODEL = 'default'

export function modelOf(value: string): string | null {
  return value === DEFAULT_MODEL ? null : value
}

export function modesOf(mode: Mode): SessionModeState {
  return { currentModeId: mode, availableModes: MODES.map((id) => ({ id, ...DESCRIPTIONS[id] })) }
}

export function configOptions(chosen: Chosen, models: readonly NamedModel[]): SessionConfigOption[] {
  const { mode, model } = chosen
  const modes: SessionConfigOption = {
    type: 'select',
    id: 'mode',
    name: 'Mode',
    description: 'What the agent may do without asking',
    category: 'mode',
    currentValue: mode,
    options: MODES.map((value) => ({ value, ...DESCRIPTIONS[value] })),
  }
  const known = knownModels(model, models)
  if (known.length === 0) return [modes]
  const options = [
    { value: DEFAULT_MODEL, name: 'Default' },
    ...known.map(({ id, name }) => ({ value: id, name })),
  ].map((option) => ({ ...option, ...inUse(option.value, chosen) }))
  const currentValue = model ?? DEFAULT_MODEL
  return [modes, { type: 'select', id: 'model', name: 'Model', category: 'model', currentValue, options }]
}

/** Beside what is chosen: which model that comes to. */
function inUse(id: string, { model, modelInUse }: Chosen): { description?: string } {
  const isChosen = id === (model ?? DEFAULT_MODEL)
  return isChosen && modelInUse !== null && modelInUse !== id ? { description: `in use: ${modelInUse}` } : {}
}

function knownModels(model: string | null, models: readonly NamedModel[]): NamedModel[] {
  const isThere = model === null || models.some(({ id }) => id === model)
  const all = isThere ? models : [...models, { id: model, name: model }]
  return all.filter(({ id }) => id !== DEFAULT_MODEL)
}

/**
 * All of the above, as the answer to a request that opens a session. `models` is how editors from before config options
 * learn about them.
 */
export function openingOf(chosen: Chosen, models: readonly NamedModel[]) {
  const known = knownModels(chosen.model, models)
  const own = { id: DEFAULT_MODEL, name: DEFAULT_MODEL }
  const availableModels = [own, ...known].map(({ id, name }) => ({ modelId: id, name, ...inUse(id, chosen) }))
  return {
    modes: modesOf(chosen.mode),
    configOptions: configOptions(chosen, models),
    ...(known.length > 0 && {
      models: { availableModels, currentModelId: chosen.model ?? DEFAULT_MODEL },
    }),
  }
}
