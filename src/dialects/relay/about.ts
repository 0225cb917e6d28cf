import { findModel } from '../../relay/models.ts'
import type { Relay, RelayOptions } from '../../relay/relay.ts'
import { RelayFailure } from '../../relay/failure.ts'
import { modelView } from './views.ts'

/** What the relay's listener knows about itself. */
export interface Own {
  agent: RelayOptions['agent']
  version: string
  startedAt: number
  port(): number
}

/** The body of `GET /v1/health`. */
export function health({ active }: Relay, { port, startedAt }: Own): object {
  return { port: port(), sessions: active(), status: 'healthy', uptime: Date.now() - startedAt }
}

/** The body of `GET /v1/version`. */
export async function version({ settings }: Relay, own: Own): Promise<object> {
  const { agent, builtinToolsEnabled } = settings.current()
  const found = await own.agent(agent)
  const claude = agent === 'claude' ? found : await own.agent('claude')
  return {
    ir: INTERFACE,
    platform: PLATFORMS[process.platform] ?? process.platform,
    arch: ARCHITECTURES[process.arch] ?? process.arch,
    claudeAvailable: claude?.installed ?? false,
    claudeMissing: claude?.installed ? [] : ['claude'],
    claudeVersion: claude?.version ?? null,
    substrate: 'corral',
    corral: own.version,
    builtinToolsEnabled,
    agent,
    agentVersion: found?.version ?? null,
  }
}

/** The body of `GET /v1/availability`. */
export async function availability({ settings, missing }: Relay): Promise<object> {
  const { agent, upstreams } = settings.current()
  const lacks = (await missing()) === null ? [] : [agent]
  return { ok: lacks.length === 0 || upstreams.length > 0, missing: lacks }
}

/** The body of `GET /v1/models/:id`. */
export async function model({ models }: Relay, id: string): Promise<object> {
  const found = findModel(await models(), id)
  if (found) return modelView(found)
  throw new RelayFailure(404, 'not_found_error', `No model ${id}`, { extra: { code: 'model_not_found' } })
}

/** The release of the interface whose routes are served: clients look here for what they may use. */
const INTERFACE = '1.1.16'

const PLATFORMS: Readonly<Record<string, string>> = { darwin: 'macos', win32: 'windows' }
const ARCHITECTURES: Readonly<Record<string, string>> = { arm64: 'aarch64', x64: 'x86_64' }
