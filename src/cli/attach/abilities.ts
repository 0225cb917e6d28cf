import type { AgentCommand } from '../../core/event.ts'
import type { NativeClient } from '../../client/client.ts'
import type { SessionView } from '../../dialects/native/wire.ts'
import type { Abilities } from './state.ts'

/** Finds out what the session's agent can do, and tells it bit by bit: some of it takes a while. */
export async function abilitiesOf(
  client: NativeClient,
  { id, agent }: SessionView,
  tell: (known: Partial<Abilities>) => void,
): Promise<void> {
  const quietly = async (work: () => Promise<void>): Promise<void> => work().catch(() => {})
  await quietly(async () => tell({ commands: await commandsOf(client, id) }))
  await quietly(async () => {
    const { agents } = await client.call('agents.list')
    const can = agents.find(({ name }) => name === agent)?.capabilities
    if (can) tell({ editInput: can.editInput, images: can.images, compact: can.compact, effort: can.effort })
  })
  await quietly(async () => tell({ models: (await client.call('agents.models', { agent })).models }))
}

/** As the agent told them last. */
async function commandsOf(client: NativeClient, sessionId: string): Promise<readonly AgentCommand[]> {
  const query = { sessionId, before: Number.MAX_SAFE_INTEGER, limit: 1 }
  const { events } = await client.call('events.read', { ...query, types: ['agent.commands'] })
  const [event] = events
  return event?.type === 'agent.commands' ? event.commands : []
}
