import { isCompaction } from '../../core/compaction.ts'
import type { Corral } from '../../dialects/loaf/ports.ts'
import type { NativeClient } from '../../client/client.ts'
import { insisting } from '../insisting.ts'
import { sessionEvents } from '../session-events.ts'

const ORIGIN = 'loaf'
const PAGE = 1000
/** How many messages are read to find the last one that is not the request for a summary. */
const LOOKED_AT = 3

/** The daemon, as the loaf dialect wants it. */
export function corralOf(calls: NativeClient, feed: NativeClient): Corral {
  return {
    ...sessionsOf(calls),
    ...messagesOf(calls),
    ...agentsOf(calls),
    ...sessionEvents(calls, feed),
    read: (sessionId, types, after) => calls.call('events.read', { sessionId, types, after, limit: PAGE }),
  }
}

type Sessions = Pick<Corral, 'create' | 'session' | 'sessions' | 'lastMessage' | 'configure'>

function sessionsOf(calls: NativeClient): Sessions {
  return {
    create: (wish) =>
      calls.call('session.create', {
        ...wish,
        mode: 'auto',
        // This protocol has no way to answer a question.
        settings: { questions: false },
        key: `loaf ${wish.id}`,
        origin: ORIGIN,
      }),
    session: (sessionId) => calls.call('session.get', { sessionId }),
    sessions: (cursor) =>
      calls.call('session.list', { archived: false, limit: 500, ...(cursor !== null && { cursor }) }),
    async lastMessage(sessionId) {
      // One by one: a message may be large.
      for (let limit = 1; limit <= LOOKED_AT; limit++) {
        const { turns } = await calls.call('turn.list', { sessionId, limit })
        const input = turns[limit - 1]?.input ?? []
        if (!isCompaction(input)) return input
      }
      return []
    },
    async configure(sessionId, patch) {
      const wanted = 'fresh' in patch ? { nativeId: null } : patch
      await insisting(() => calls.call('session.configure', { sessionId, ...wanted }))
    },
  }
}

function messagesOf(
  calls: NativeClient,
): Pick<Corral, 'send' | 'steer' | 'compact' | 'unqueue' | 'interrupt'> {
  return {
    send: (sessionId, content, key, busy) =>
      calls.call('session.send', { sessionId, content, key, busy, origin: ORIGIN }),
    async steer(sessionId, content, key) {
      await calls.call('session.steer', { sessionId, content, key, origin: ORIGIN })
    },
    async compact(sessionId, key) {
      await calls.call('session.compact', { sessionId, key, busy: 'interrupt', origin: ORIGIN })
    },
    async unqueue(sessionId, turnId) {
      try {
        await insisting(() => calls.call('queue.remove', { sessionId, turnId }))
        return true
      } catch (error) {
        unlessGone(error)
        return false
      }
    },
    async interrupt(sessionId, clearQueue) {
      return (await insisting(() => calls.call('session.interrupt', { sessionId, clearQueue }))).interrupted
    },
  }
}

function agentsOf(calls: NativeClient): Pick<Corral, 'agents' | 'models'> {
  return {
    agents: async () => (await calls.call('agents.list')).agents,
    async models(agent) {
      const [{ sessions }, { models: told }, { agents }] = await Promise.all([
        calls.call('session.list', { agent, limit: 100 }),
        calls.call('agents.models', { agent }),
        calls.call('agents.list'),
      ])
      const names = sessions.flatMap(({ model, modelInUse }) => [model, modelInUse])
      const used = [...new Set(names)].filter((name) => name !== null)
      return {
        told,
        used,
        effort: agents.some(({ name, capabilities }) => name === agent && capabilities.effort),
      }
    },
  }
}

/** A message that no longer waits does not have to be removed. */
function unlessGone(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'turn_not_found') throw error
}
