import type { Mode } from './mode.ts'

/** What a session begins with where nobody says otherwise. */
export interface Defaults {
  agent: string
  /** Somebody has set it, it was found on this machine, or there is none but the demo agent. */
  chosen: 'set' | 'found' | 'demo'
  mode: Mode
}

/** An agent as the machine has it. */
export interface Candidate {
  name: string
  installed: boolean
  /** Null: it cannot be told. */
  signedIn: boolean | null
}

const DEMO = 'demo'

/** Real agents before the demo agent, those that can be used at once first; of these the first in the list. */
export function defaultsFrom(
  settings: { readonly agent: string | null; readonly mode: Mode },
  agents: readonly Candidate[],
): Defaults {
  const { agent, mode } = settings
  if (agent !== null) return { agent, chosen: 'set', mode }
  const real = agents.filter(({ name, installed }) => installed && name !== DEMO)
  const found = real.find(({ signedIn }) => signedIn !== false) ?? real[0]
  return found ? { agent: found.name, chosen: 'found', mode } : { agent: DEMO, chosen: 'demo', mode }
}
