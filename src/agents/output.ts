import type { AgentOutput } from '../core/event.ts'
import type { Failure } from '../core/turn.ts'

/** What is between an agent and its host only: the engine never hears of it. */
export type HostSignal =
  /** Everything written to stdin before the barrier of this id has been read. */
  | { type: 'barrier.reached'; id: string }
  /** The conversation is open and messages may come, or it cannot be opened. */
  | { type: 'agent.ready'; problem: Failure | null }
  /** The agent has read a steer: it need not be written again while the turn runs. */
  | { type: 'steer.arrived'; steerId: string }
  /** The agent's protocol wants an answer that is no human's business; its driver gives it. */
  | { type: 'agent.request'; request: unknown }

/** What a translator may say. */
export type DriverOutput = AgentOutput | HostSignal

const HOST_SIGNALS: Record<HostSignal['type'], true> = {
  'barrier.reached': true,
  'agent.ready': true,
  'steer.arrived': true,
  'agent.request': true,
}

/** For the engine: neither its host nor its driver has an answer to it. */
export function isForEngine(output: DriverOutput): output is AgentOutput {
  return !(output.type in HOST_SIGNALS)
}
