import type { Engine, Subscription } from '../../core/api.ts'
import {
  CONVERSATION_TYPES,
  emptyConversation,
  isAtRest,
  step,
  type Conversation,
} from '../../core/conversation/conversation.ts'
import type { Change } from '../../core/conversation/item.ts'
import type { Event, EventType, LoggedEvent } from '../../core/event.ts'

/** What this protocol's conversations are made of: it has no messages that are not complete. */
export const WHOLE_TYPES: readonly EventType[] = CONVERSATION_TYPES.filter((type) => type !== 'message.delta')

const FOLDED: readonly EventType[] = ['session.created', ...WHOLE_TYPES]
const IS_FOLDED: ReadonlySet<EventType> = new Set(FOLDED)
const NOTHING: readonly Change[] = []

/** What events change in their sessions' conversations, for one reader of the log. */
export interface Follower {
  /** Events come in the order of the log; none is left out, unless the reader says so. */
  changes(logged: LoggedEvent): readonly Change[]
  /** Others have looked at the next events for this reader. */
  skip(): void
  close(): void
}

export interface Following {
  /** For a reader that begins anywhere. */
  open(): Follower
}

/**
 * Everybody who is up to date gets the same events, so one fold, which is there as long as anybody reads, looks at them for all. Who
 * reads older ones has folds of its own, which go on from what was under way there.
 */
export function createFollowing(engine: Engine): Following {
  const live = new WeakMap<LoggedEvent, readonly Change[]>()
  let readers = 0
  let subscription: Subscription | null = null

  /** It comes before all readers, so it has seen whatever they are handed. */
  function follow(): Subscription {
    const folds = createFolds(engine)
    return engine.events.subscribe({ after: engine.events.head, types: FOLDED }, (batch) => {
      for (const logged of batch) live.set(logged, folds.changes(logged.event))
    })
  }

  function changesOf(logged: LoggedEvent, own: Folds): readonly Change[] {
    const known = live.get(logged)
    if (!known) return own.changes(logged.event)
    own.forget()
    return known
  }

  return {
    open() {
      const own = createFolds(engine)
      readers += 1
      subscription ??= follow()
      return {
        changes: (logged) => (IS_FOLDED.has(logged.type) ? changesOf(logged, own) : NOTHING),
        skip: own.forget,
        close() {
          readers -= 1
          if (readers > 0) return
          subscription?.close()
          subscription = null
        },
      }
    },
  }
}

interface Folds {
  changes(event: Event): readonly Change[]
  forget(): void
}

/** The conversations of all sessions that a reader comes by. */
function createFolds(engine: Engine): Folds {
  /** Null: nothing is under way. */
  const conversations = new Map<string, Conversation | null>()

  function before(event: Event): Conversation {
    const known = conversations.get(event.sessionId)
    if (known === undefined && event.type !== 'session.created')
      return engine.sessions.conversationBefore(event)
    return known ?? emptyConversation()
  }

  return {
    changes(event) {
      const conversation = before(event)
      const changes = step(conversation, event)
      conversations.set(event.sessionId, isAtRest(conversation) ? null : conversation)
      return changes
    },
    forget: () => conversations.clear(),
  }
}
