import type { Unasked } from '../core/about.ts'
import type { Capabilities } from '../core/capabilities.ts'
import type { Detection } from './agent.ts'
import type { Catalog } from './catalog.ts'

/** All that there is to say about an agent on this machine. */
export interface AgentReport extends Detection {
  title: string
  /** Null: it cannot be told. */
  signedIn: boolean | null
  /** How a human signs in; null when that is done, or there is nothing to sign in to. */
  signIn: string | null
  capabilities: Capabilities
  unasked: Unasked
}

export function reportAgents(catalog: Catalog): Promise<AgentReport[]> {
  return Promise.all(catalog.names().map((name) => report(catalog, name)))
}

async function report(catalog: Catalog, name: string): Promise<AgentReport> {
  const { title, capabilities, unasked } = catalog.driver(name)
  const detection = await catalog.detect(name)
  const { signedIn, hint } = detection.installed
    ? await catalog.signedIn(name)
    : { signedIn: null, hint: null }
  return { ...detection, title, signedIn, signIn: hint, capabilities, unasked }
}
