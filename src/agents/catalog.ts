import { CorralError } from '../core/error.ts'
import type { AgentCatalog } from '../core/ports.ts'
import type { AgentDriver, Detection } from './agent.ts'
import type { SignedIn } from './signed-in.ts'

/** How long a look at the machine is good for: people install agents while the daemon runs. */
const FRESH_MS = 10_000
const STALE_MS = 10 * 60_000

export interface Catalog extends AgentCatalog {
  driver(name: string): AgentDriver
  detect(name: string): Promise<Detection>
  /** The same in a hurry: what was seen last will do, if the agent was there. */
  find(name: string): Promise<Detection>
  signedIn(name: string): Promise<SignedIn>
}

/** `given`: the variables that an agent's process gets beside its environment. */
export function createCatalog(
  drivers: AgentDriver[],
  env: NodeJS.ProcessEnv,
  given: (agent: string) => string[] = () => [],
): Catalog {
  const byName = new Map(drivers.map((driver) => [driver.name, driver]))
  const looks = new Map<string, { at: number; found: Promise<Detection> }>()

  function driver(name: string): AgentDriver {
    const found = byName.get(name)
    if (found) return found
    const known = [...byName.keys()]
    throw new CorralError(
      'agent_unknown',
      `No agent called ${name}; this Corral knows: ${known.join(', ')}`,
      { name, known },
    )
  }

  function detect(name: string): Promise<Detection> {
    const look = looks.get(name)
    if (look && Date.now() - look.at < FRESH_MS) return look.found
    const found = driver(name).detect(env)
    looks.set(name, { at: Date.now(), found })
    return found
  }

  /** Who was there a while ago is not waited for: a look takes as long as some programs take to start. */
  async function find(name: string): Promise<Detection> {
    const before = looks.get(name)
    const found = detect(name)
    if (!before || Date.now() - before.at > STALE_MS) return found
    const last = await before.found
    return last.installed ? last : found
  }

  return {
    driver,
    detect,
    find,
    names: () => [...byName.keys()],
    title: (name) => byName.get(name)?.title ?? name,
    signedIn: (name) => {
      const present = given(name).map((variable) => [variable, 'given when it starts'])
      return driver(name).signedIn({ ...env, ...Object.fromEntries(present) } as NodeJS.ProcessEnv)
    },
    capabilities: (name) => driver(name).capabilities,
    async require(name) {
      const { installed, problem } = await find(name)
      if (!installed)
        throw new CorralError('agent_missing', problem ?? `The agent ${name} is not installed`, { name })
    },
  }
}
