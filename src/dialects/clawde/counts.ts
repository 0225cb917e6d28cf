import type { Engine } from '../../core/api.ts'
import {
  CONVERSATION_TYPES,
  emptyConversation,
  isAtRest,
  step,
  type Conversation,
} from '../../core/conversation/conversation.ts'
import type { EventType } from '../../core/event.ts'
import { isShown, newItem } from './items.ts'

/** Counts the messages of sessions, each event once: what has been counted is remembered, up to a bound. */
export interface Counts {
  of(sessionId: string): number
}

interface Counted {
  readonly after: number
  readonly count: number
  readonly conversation: Conversation
}

/** What waits, and what tools have answered, changes no number. */
const UNCOUNTED: readonly EventType[] = ['turn.queued', 'turn.edited', 'tool.completed']
const COUNTED = CONVERSATION_TYPES.filter((type) => !UNCOUNTED.includes(type))
const PAGE = 1000
const REMEMBERED = 20_000

export function createCounts(engine: Engine): Counts {
  const known = new Map<string, Counted>()
  return {
    of(sessionId) {
      const before = known.get(sessionId) ?? { after: 0, count: 0, conversation: NOTHING }
      const now = before.after === engine.events.head ? before : counted(engine, sessionId, before)
      known.delete(sessionId)
      known.set(sessionId, now)
      if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
      return now.count + [...now.conversation.open.values()].filter(isShown).length
    },
  }
}

/** Of most sessions nothing is under way. It is never changed. */
const NOTHING = emptyConversation()

function counted(engine: Engine, sessionId: string, before: Counted): Counted {
  const conversation = before.conversation === NOTHING ? emptyConversation() : before.conversation
  const { head } = engine.events
  let { after, count } = before
  for (;;) {
    const page = engine.events.read({ sessionId, after, types: COUNTED, limit: PAGE })
    for (const { event } of page) {
      for (const change of step(conversation, event)) if (newItem(change, event)) count += 1
    }
    if (page.length < PAGE) break
    after = page.at(-1)!.seq
  }
  return { after: head, count, conversation: isAtRest(conversation) ? NOTHING : conversation }
}
