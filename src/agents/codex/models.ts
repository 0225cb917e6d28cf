import type { AgentModel } from '../../core/event.ts'
import type { Session } from '../../core/session.ts'
import { effortNamed, effortsIn, SAFE_EFFORTS, wordFor } from '../effort.ts'
import { asArray, asObject, asString } from '../json.ts'
import { type Reply, request } from './rpc.ts'
import { nothing, says, type Step } from '../step.ts'
import type { CodexState } from './state.ts'

const MAX_MODELS = 100

/** A model, and Codex's own words for how long it can think. */
export interface KnownModel {
  id: string
  efforts: string[]
  /** What it does by itself. */
  own: string | null
}

export function listModels(session: Pick<Session, 'id'>): string {
  return request(session, 'models', 'model/list', { limit: MAX_MODELS })
}

export function modelsListed(state: CodexState, { result }: Reply): Step<CodexState> {
  const told = asArray(result?.data).slice(0, MAX_MODELS).map(asObject).flatMap(modelOf)
  if (told.length === 0) return nothing(state)
  const models = told.map(({ known }) => known)
  return says({ ...state, models }, { type: 'models.told', models: told.map(({ model }) => model) })
}

function modelOf(told: ReturnType<typeof asObject>): { known: KnownModel; model: AgentModel }[] {
  const id = asString(told.model) ?? asString(told.id)
  if (id === null) return []
  const words = asArray(told.supportedReasoningEfforts).map((one) => asObject(one).reasoningEffort)
  const own = asString(told.defaultReasoningEffort)
  const [description, defaultEffort] = [asString(told.description), effortNamed(own)]
  const model: AgentModel = {
    id,
    name: asString(told.displayName) ?? id,
    ...(description !== null && { description }),
    efforts: effortsIn(words),
    ...(defaultEffort !== null && { defaultEffort }),
  }
  return [{ known: { id, efforts: words.filter((word) => typeof word === 'string'), own }, model }]
}

/** Codex passes on whatever it is told, and a model refuses what it does not have. */
export function effortOf({ effort, model }: Session, heard?: CodexState): string | null {
  if (!effort) return null
  return wordFor(effort, modelNow(model, heard)?.efforts ?? SAFE_EFFORTS)
}

/** A conversation keeps what it was told last, also where it is told nothing: its own way has to be named. */
export function ownEffort(session: Session, heard?: CodexState): string[] {
  const effort = modelNow(session.model, heard)?.own ?? null
  if (effort === null || session.nativeId === null) return []
  const params = { threadId: session.nativeId, effort }
  return [request(session, 'effort', 'thread/settings/update', params)]
}

function modelNow(chosen: string | null, heard?: CodexState): KnownModel | undefined {
  return heard?.models?.find(({ id }) => id === (chosen ?? heard.model))
}
