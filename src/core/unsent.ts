import type { Unsent } from './api.ts'
import type { DraftMessage } from './command.ts'
import { existing, type EngineContext } from './context.ts'
import { CorralError } from './error.ts'

/*
 * What somebody types and has not sent. Clients call it a draft; `draft.ts` is about another thing, events that are not committed
 * yet.
 */

/** Where a session's draft is in the log; each one takes the place of the one before. */
export interface DraftPlace {
  /** Of its `session.drafted`. */
  seq: number
  revision: number
  updatedAt: number
}

export interface DraftText {
  text: string
  /** How often it has been written; 0: never. */
  revision: number
  updatedAt: number | null
}

/** The noun `unsent` of the engine. */
export function createUnsent(context: EngineContext): Unsent {
  return {
    set: (command) => set(context, command),
    get(sessionId) {
      existing(context, sessionId)
      return read(context, sessionId)
    },
  }
}

async function set(
  context: EngineContext,
  { sessionId, text, revision }: DraftMessage,
): Promise<{ revision: number; updatedAt: number }> {
  const before = existing(context, sessionId).unsent
  const current = before?.revision ?? 0
  if (revision !== undefined && revision !== current) return sameOr(context, sessionId, text)
  const draft = context.drafts.of(sessionId)
  draft.add({ type: 'session.drafted', text, revision: current + 1 })
  if (before) draft.write({ op: 'event.drop', seq: before.seq })
  const { updatedAt } = draft.state.unsent!
  await draft.commit()
  return { revision: current + 1, updatedAt }
}

/** Somebody was first. If that was the very same text, maybe by the same call, nobody has lost anything. */
async function sameOr(
  context: EngineContext,
  sessionId: string,
  text: string,
): Promise<{ revision: number; updatedAt: number }> {
  // What is there now may still be on its way to the log.
  await context.log.append({ events: [], writes: [] })
  const now = read(context, sessionId)
  if (now.updatedAt !== null && now.text === text) return { revision: now.revision, updatedAt: now.updatedAt }
  throw new CorralError(
    'conflict',
    'The draft was changed elsewhere; look at it, and set it again with its revision',
    { ...now },
  )
}

/** Retention may have removed the text. */
function read({ log }: EngineContext, sessionId: string): DraftText {
  const place = log.session(sessionId)?.unsent
  if (!place) return { text: '', revision: 0, updatedAt: null }
  const { seq, revision, updatedAt } = place
  const [logged] = log.events({ sessionId, after: seq - 1, before: seq + 1, whole: true, limit: 1 })
  const text = logged?.event.type === 'session.drafted' ? logged.event.text : ''
  return { text, revision, updatedAt }
}
