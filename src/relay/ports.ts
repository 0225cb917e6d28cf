import type { SpareCounts } from '../core/ports.ts'

/*
 * What the relay uses of the process around it. The daemon hands it in.
 */

/** What the machine has of an agent. */
export interface AgentReport {
  installed: boolean
  version: string | null
  problem: string | null
}

/** Whether an agent calls tools of its caller's, can be without its own, and can be told how long to think. */
export interface AgentAbilities {
  takesTools: boolean
  canBeBare: boolean
  takesEffort: boolean
}

/** All that the agent of a call is told beforehand. */
export interface Briefing {
  systemPrompt: string
  model: string | null
}

/** What waiting processes have been started with. */
export interface SpareKind {
  cwd: string
  ownTools: boolean
  /** False: nobody can be asked anything. */
  questions: false
  /** What they have been told already. */
  told?: Briefing
}

/** Processes that wait for sessions, as the host keeps them. */
export interface Spares {
  keep(agent: string, kind: SpareKind, size: number, refillMs?: number): void
  count(agent: string, kind: SpareKind): SpareCounts
}
