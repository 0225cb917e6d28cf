import type { Engine } from '../../core/api.ts'
import {
  copyOf,
  emptyConversation,
  isAtRest,
  type Conversation,
} from '../../core/conversation/conversation.ts'
import type { Event } from '../../core/event.ts'
import type { Mode } from '../../core/mode.ts'

/** What was last told of a message that is being streamed. */
export interface Mark {
  readonly length: number
  readonly at: number
}

/** What a teller knows of a session in which something is under way. */
export interface ActiveSession {
  readonly conversation: Conversation
  readonly marks: Map<string, Mark>
  /** Null: not known. */
  mode: Mode | null
  /** When something was last heard of it. */
  heard: number
}

/** The sessions in which something is under way. */
export interface ActiveSessions {
  /** The session that this event belongs to, as it was before it. */
  of(event: Event): ActiveSession
  known(sessionId: string): ActiveSession | undefined
  /** After the event: a session that rests is forgotten. */
  leave(event: Event): void
  copy(): ActiveSessions
}

/** So many sessions are remembered to be at rest: what is under way in others is looked up in the log. */
const RESTING = 1000

export function createActiveSessions(
  engine: Engine,
  active: Map<string, ActiveSession> = new Map(),
): ActiveSessions {
  const resting = new Set<string>()

  function enter(event: Event): ActiveSession {
    const isNew = event.type === 'session.created' || resting.delete(event.sessionId)
    const conversation = isNew ? emptyConversation() : engine.sessions.conversationBefore(event)
    const session = { conversation, marks: new Map(), mode: conversation.turn?.mode ?? null, heard: 0 }
    active.set(event.sessionId, session)
    return session
  }

  return {
    of: (event) => active.get(event.sessionId) ?? enter(event),
    known: (sessionId) => active.get(sessionId),
    leave({ sessionId, type }) {
      const session = active.get(sessionId)
      if (!session || (type !== 'session.destroyed' && !isAtRest(session.conversation))) return
      active.delete(sessionId)
      resting.add(sessionId)
      if (resting.size > RESTING) resting.delete(resting.values().next().value!)
    },
    copy() {
      const copies = [...active].map(([id, session]): [string, ActiveSession] => [
        id,
        { ...session, conversation: copyOf(session.conversation), marks: new Map(session.marks) },
      ])
      return createActiveSessions(engine, new Map(copies))
    },
  }
}
