import type { Api } from '../client/client.ts'

type Settings = Api['relay.settings.get']['result']
type Patch = Api['relay.settings.set']['params']
export type Upstream = Settings['upstreams'][number]

/** The relay's settings as a form has them. */
export interface RelayDraft {
  agent: string
  mode: Settings['mode']
  workingDir: string
  builtinToolsEnabled: boolean
  poolSize: string
  prewarm: boolean
  storePrompts: boolean
  upstreams: UpstreamDraft[]
}

/** `key`: a new one; empty: what it has stays. */
export interface UpstreamDraft extends Pick<Upstream, 'name' | 'kind' | 'baseUrl' | 'hasKey' | 'models'> {
  model: string
  key: string
}

export function draftOf(settings: Settings): RelayDraft {
  const { agent, mode, builtinToolsEnabled, prewarm, storePrompts } = settings
  return {
    agent,
    mode,
    workingDir: settings.workingDir ?? '',
    builtinToolsEnabled,
    poolSize: String(settings.poolSize),
    prewarm,
    storePrompts,
    upstreams: settings.upstreams.map((upstream) => ({ ...upstream, model: upstream.model ?? '', key: '' })),
  }
}

/** Only what is another one than before; null: nothing is. */
export function patchOf(draft: RelayDraft, before: Settings): Patch | null {
  const workingDir = draft.workingDir.trim() === '' ? null : draft.workingDir.trim()
  const patch: Patch = {
    ...(draft.agent !== before.agent && { agent: draft.agent }),
    ...(draft.mode !== before.mode && { mode: draft.mode }),
    ...(workingDir !== before.workingDir && { workingDir }),
    ...(draft.builtinToolsEnabled !== before.builtinToolsEnabled && {
      builtinToolsEnabled: draft.builtinToolsEnabled,
    }),
    ...(Number(draft.poolSize) !== before.poolSize && { poolSize: Number(draft.poolSize) }),
    ...(draft.prewarm !== before.prewarm && { prewarm: draft.prewarm }),
    ...(draft.storePrompts !== before.storePrompts && { storePrompts: draft.storePrompts }),
    ...(haveChanged(draft, before) && { upstreams: draft.upstreams.map(upstreamOf) }),
  }
  return Object.keys(patch).length === 0 ? null : patch
}

function haveChanged(draft: RelayDraft, before: Settings): boolean {
  return JSON.stringify(draft.upstreams) !== JSON.stringify(draftOf(before).upstreams)
}

function upstreamOf({
  name,
  kind,
  baseUrl,
  model,
  models,
  key,
}: UpstreamDraft): NonNullable<Patch['upstreams']>[number] {
  return {
    name: name.trim(),
    kind,
    baseUrl: baseUrl.trim(),
    ...(model.trim() !== '' && { model: model.trim() }),
    ...(Object.keys(models).length > 0 && { models }),
    ...(key.trim() !== '' && { apiKey: key.trim() }),
  }
}

export const NEW_UPSTREAM: UpstreamDraft = {
  name: '',
  kind: 'openai',
  baseUrl: '',
  model: '',
  models: {},
  hasKey: false,
  key: '',
}
