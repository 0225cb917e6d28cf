import type { AgentModel } from '../../core/event.ts'
import { findModel, modelsOf, type ModelEntry } from '../../relay/models.ts'
import type { RelaySettings } from '../../relay/settings/schema.ts'

/** What the machine has of an agent. */
export interface AgentReport {
  installed: boolean
  version: string | null
  problem: string | null
}

interface AboutDeps {
  /** Null: there is no such agent. */
  agent(name: string): Promise<AgentReport | null>
  settings(): RelaySettings
  /** The models that an agent tells of. */
  told(agent: string): Promise<AgentModel[]>
  /** Conversations that somebody may come back to. */
  sessions(): number
  port(): number
  version: string
  startedAt: number
  now(): number
}

/** What the relay says about itself. */
export interface About {
  health(): object
  version(): Promise<object>
  availability(): Promise<object>
  /** The models that answers may be asked of. */
  models(): Promise<ModelEntry[]>
  /** One of them, or another name of one; null: there is none. */
  model(id: string): Promise<ModelEntry | null>
  /** Why the agent cannot be asked; null when it can. */
  missing(): Promise<string | null>
}

export function createAbout(deps: AboutDeps): About {
  const { settings, now } = deps

  async function missing(): Promise<string | null> {
    const { agent } = settings()
    const found = await deps.agent(agent)
    if (!found) return `there is no agent ${agent}`
    return found.installed ? null : (found.problem ?? `${agent} is not installed`)
  }

  async function models(): Promise<ModelEntry[]> {
    const { agent, upstreams, prices } = settings()
    return modelsOf({ agent, told: await deps.told(agent), upstreams, priced: Object.keys(prices) })
  }

  return {
    missing,
    health: () => ({
      port: deps.port(),
      sessions: deps.sessions(),
      status: 'healthy',
      uptime: now() - deps.startedAt,
    }),
    async version() {
      const { agent, builtinToolsEnabled } = settings()
      const found = await deps.agent(agent)
      const claude = agent === 'claude' ? found : await deps.agent('claude')
      return {
        ir: INTERFACE,
        platform: PLATFORMS[process.platform] ?? process.platform,
        arch: ARCHITECTURES[process.arch] ?? process.arch,
        claudeAvailable: claude?.installed ?? false,
        claudeMissing: claude?.installed ? [] : ['claude'],
        claudeVersion: claude?.version ?? null,
        substrate: 'corral',
        corral: deps.version,
        builtinToolsEnabled,
        agent,
        agentVersion: found?.version ?? null,
      }
    },
    async availability() {
      const { agent, upstreams } = settings()
      const lacks = (await missing()) === null ? [] : [agent]
      return { ok: lacks.length === 0 || upstreams.length > 0, missing: lacks }
    },
    models,
    model: async (id) => findModel(await models(), id),
  }
}

/** The release of the interface whose routes are served: clients look here for what they may use. */
const INTERFACE = '1.1.16'

const PLATFORMS: Readonly<Record<string, string>> = { darwin: 'macos', win32: 'windows' }
const ARCHITECTURES: Readonly<Record<string, string>> = { arm64: 'aarch64', x64: 'x86_64' }
