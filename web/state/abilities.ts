import { signal } from '@preact/signals'
import type { Api } from '../client/client.ts'
import { client } from './connection.ts'

type Report = Api['agents.list']['result']['agents'][number]
export type Abilities = Report['capabilities']
export type Model = Api['agents.models']['result']['models'][number]

/** What agents can do, by name; empty until the daemon has told. */
const known = signal<ReadonlyMap<string, Abilities>>(new Map())
const models = signal<ReadonlyMap<string, readonly Model[]>>(new Map())
let asked: Promise<void> | null = null
const askedModels = new Set<string>()

/** Null until it is known. Read in a component, it is drawn again when it is. */
export function abilitiesOf(agent: string): Abilities | null {
  asked ??= learn().catch(() => void (asked = null))
  return known.value.get(agent) ?? null
}

async function learn(): Promise<void> {
  const { agents } = await client().call('agents.list')
  known.value = new Map(agents.map(({ name, capabilities }) => [name, capabilities]))
}

/** The models that an agent offers; empty until they are known, and where it does not say. */
export function modelsOf(agent: string): readonly Model[] {
  if (agent !== '' && !askedModels.has(agent)) {
    askedModels.add(agent)
    client()
      .call('agents.models', { agent })
      .then(
        (found) => void (models.value = new Map(models.peek()).set(agent, found.models)),
        () => askedModels.delete(agent),
      )
  }
  return models.value.get(agent) ?? []
}
