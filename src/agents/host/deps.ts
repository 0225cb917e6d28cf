import type { AgentSink, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Catalog } from '../catalog.ts'
import type { EndTimes, InterruptTimes } from './escalation.ts'

export interface HostOptions extends InterruptTimes, EndTimes {
  /** Keep one process started ahead, for agents that can. */
  spare: boolean
  runsDir: string
  aliveFile: string
  /** Idle processes kept at the most; the least recently used goes first. */
  maxWarm: number
  idleMs: number
  orphanMs: number
  /** How long an agent may take to open its conversation. */
  readyMs: number
}

export interface HostDeps {
  catalog: Catalog
  sink: AgentSink
  /** The newest state of a session: what it is doing now, not what it did when something was asked for. */
  session: (id: string) => Session | null
  committed: (runId: string) => RunRow | null
  env: NodeJS.ProcessEnv
  /** What an agent's process gets beside it; asked at each start. */
  credentials?: (agent: string) => Promise<Record<string, string>>
  newId: () => string
  options: HostOptions
  warn: (message: string, error: unknown) => void
}
