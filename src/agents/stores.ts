import type { AgentStores, FoundConversation, StoreAnswer } from '../core/adoption.ts'
import type { AgentDriver } from './agent.ts'
import { lookAtProcesses } from './processes.ts'
import { NOTHING, type ConversationStore, type HolderOf, type Kept } from './store.ts'

/** The stores of these agents. Nothing of a store is loaded before somebody asks for what is in it. */
export function createStores(drivers: readonly AgentDriver[], env: NodeJS.ProcessEnv): AgentStores {
  const storeOf = async (agent: string): Promise<ConversationStore | null> =>
    (await drivers.find(({ name }) => name === agent)?.conversations?.()) ?? null

  /** Each agent is looked at once, however many of its conversations are asked about. */
  function lookAtHolders(): (agent: string, kept: Kept) => Promise<FoundConversation> {
    const processes = lookAtProcesses(env)
    const looks = new Map<string, Promise<HolderOf | null>>()
    const look = async (agent: string): Promise<HolderOf | null> =>
      (await (await storeOf(agent))?.holders(env, processes)) ?? null
    return async (agent, kept) => {
      let looking = looks.get(agent)
      if (!looking) looks.set(agent, (looking = look(agent)))
      return { ...kept, agent, holder: (await (await looking)?.(kept)) ?? null }
    }
  }

  return {
    async list({ agent, cwd, limit, skip }) {
      const asked = drivers.filter(({ name, conversations }) => conversations && (agent ?? name) === name)
      const lists = await Promise.all(
        asked.map(async ({ name }) => {
          const store = (await storeOf(name))!
          const look = { limit, skip: (id: string) => skip(name, id), ...(cwd !== undefined && { cwd }) }
          const place = { agent: name, path: store.place(env), problem: null }
          try {
            return { ...(await store.list(env, look)), place }
          } catch (error) {
            return { ...NOTHING, place: { ...place, problem: (error as Error).message } }
          }
        }),
      )
      return merged(lists, limit, lookAtHolders())
    },
    async find(agent, id) {
      const kept = (await (await storeOf(agent))?.find(env, id)) ?? null
      return kept && lookAtHolders()(agent, kept)
    },
    past: async (agent, id) => (await storeOf(agent))?.past(env, id) ?? { messages: [], isCut: false },
  }
}

/** The newest of all of them. */
async function merged(
  lists: readonly {
    found: Kept[]
    skipped: number
    truncated: boolean
    place: StoreAnswer['places'][number]
  }[],
  limit: number,
  found: (agent: string, kept: Kept) => Promise<FoundConversation>,
): Promise<StoreAnswer> {
  const all = lists
    .flatMap((list) => list.found.map((kept) => ({ agent: list.place.agent, kept })))
    .sort((a, b) => b.kept.updatedAt - a.kept.updatedAt)
  const newest = all.slice(0, limit)
  return {
    conversations: await Promise.all(newest.map(({ agent, kept }) => found(agent, kept))),
    skipped: lists.reduce((sum, { skipped }) => sum + skipped, 0),
    truncated: all.length > limit || lists.some(({ truncated }) => truncated),
    places: lists.map(({ place }) => place),
  }
}
