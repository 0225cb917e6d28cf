import { CorralError } from '../../core/error.ts'
import type { Session } from '../../core/session.ts'

/** Which session holds which native conversation: never two processes on one, whatever sessions it is seen through. */
export interface Conversations {
  /** Takes the conversation for this session, ending the idle process of another one; throws while that one is busy. */
  claim(session: Session): Promise<void>
  /** The agent has told the id of the conversation. */
  learn(agent: string, nativeId: string, sessionId: string): void
  /** The session's process is gone. */
  free(sessionId: string): void
}

interface ConversationsDeps {
  isBusy: (sessionId: string) => boolean
  end: (sessionId: string) => Promise<void>
}

export function createConversations({ isBusy, end }: ConversationsDeps): Conversations {
  const holders = new Map<string, string>()
  const keyOf = (agent: string, nativeId: string): string => `${agent} ${nativeId}`

  return {
    async claim({ id, agent, nativeId }) {
      if (nativeId === null) return
      const key = keyOf(agent, nativeId)
      for (let holder = holders.get(key); holder !== undefined && holder !== id; holder = holders.get(key)) {
        if (isBusy(holder)) {
          throw new CorralError(
            'conversation_busy',
            `Session ${holder} is using the same conversation; wait for it`,
          )
        }
        await end(holder)
        if (holders.get(key) === holder) holders.delete(key)
      }
      holders.set(key, id)
    },
    learn(agent, nativeId, sessionId) {
      holders.set(keyOf(agent, nativeId), sessionId)
    },
    free(sessionId) {
      for (const [key, holder] of holders) if (holder === sessionId) holders.delete(key)
    },
  }
}
