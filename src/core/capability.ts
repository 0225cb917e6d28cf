import { CorralError } from './error.ts'
import type { Capabilities } from './capabilities.ts'
import type { AgentCatalog } from './ports.ts'

/** What each capability lets an agent do: `Codex can …`, `Codex cannot …`. */
export const ABILITIES: Readonly<Record<keyof Capabilities, string>> = {
  streaming: 'tell its answer piece by piece',
  thinking: 'show what it thinks',
  approvals: 'ask before it does something',
  images: 'be sent images',
  documents: 'be sent documents (PDF)',
  resume: 'go on with an earlier conversation',
  relocate: 'go on with a conversation in another directory',
  fork: 'branch off a conversation',
  cost: 'tell what a turn has cost',
  setModel: 'change its model within a conversation',
  effort: 'be told how long to think',
  setMode: 'change its mode within a conversation',
  steer: 'take a message in the middle of a turn',
  editInput: 'run a tool with another input than the one it asked about',
  denyComment: 'hear why a human said no',
  pause: 'be stopped in the middle of a turn and go on later',
  survivesRestart: 'work on while the daemon restarts',
  clientTools: 'call tools that its client carries out',
  bare: 'do without tools of its own',
  compact: 'sum up its conversation on request',
}

export function cannot(
  catalog: Pick<AgentCatalog, 'title'>,
  agent: string,
  what: keyof Capabilities,
): string {
  return `${catalog.title(agent)} (${agent}) cannot ${ABILITIES[what]}`
}

export function unsupported(
  catalog: Pick<AgentCatalog, 'title'>,
  agent: string,
  capability: keyof Capabilities,
): CorralError {
  return new CorralError('unsupported', cannot(catalog, agent, capability), { agent, capability })
}
