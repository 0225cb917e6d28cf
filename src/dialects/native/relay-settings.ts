import type { z } from 'zod'
import { CorralError } from '../../core/error.ts'
import { RelayFailure } from '../../relay/failure.ts'
import type { RelaySettings } from '../../relay/settings/schema.ts'
import type { relaySettings, relaySettingsPatch } from './wire-relay.ts'

type View = z.output<typeof relaySettings>
type Patch = z.output<typeof relaySettingsPatch>

/** The settings without any key: only that there is one. */
export function settingsView(settings: RelaySettings): View {
  const { agent, mode, workingDir, builtinToolsEnabled, poolSize, prewarm, storePrompts } = settings
  const { licenseUrl, licenseKey, prices, upstreams } = settings
  return {
    agent,
    mode,
    workingDir,
    builtinToolsEnabled,
    poolSize,
    prewarm,
    storePrompts,
    licenseUrl,
    hasLicenseKey: licenseKey !== null,
    prices,
    upstreams: upstreams.map(({ name, kind, baseUrl, model = null, models = {}, apiKey }) => ({
      name,
      kind,
      baseUrl,
      model,
      models,
      hasKey: apiKey !== undefined,
    })),
  }
}

/** A patch as the relay reads it. `shown` are its settings with keys redacted: the relay knows its own key by that. */
export function patchOf({ upstreams, ...rest }: Patch, shown: RelaySettings): object {
  if (!upstreams) return rest
  return {
    ...rest,
    upstreams: upstreams.map(({ apiKey, model, models, ...upstream }) => {
      const key = apiKey === undefined ? keptKey(upstream, shown) : apiKey
      return {
        ...upstream,
        ...(model != null && { model }),
        ...(models && Object.keys(models).length > 0 && { models }),
        ...(key !== null && { apiKey: key }),
      }
    }),
  }
}

/** A key is for the server that it was given for. */
function keptKey({ name, baseUrl }: { name: string; baseUrl: string }, shown: RelaySettings): string | null {
  const known = shown.upstreams.find((upstream) => upstream.name === name)
  if (known?.apiKey === undefined) return null
  return URL.parse(known.baseUrl)?.origin === URL.parse(baseUrl)?.origin ? known.apiKey : null
}

/** What the relay says about settings that it refuses, as one of our errors. */
export function refusedSettings(thrown: unknown): unknown {
  if (!(thrown instanceof RelayFailure)) return thrown
  const message = thrown.message.replace(/^invalid request body: /, '')
  if (thrown.status === 400) return new CorralError('invalid', message, { field: thrown.field ?? '' })
  return new CorralError('storage', message, {}, thrown)
}
