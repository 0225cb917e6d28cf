import type { Engine } from '../../core/api.ts'
import type { Session } from '../../core/session.ts'
import type { Known } from './history.ts'
import { ORIGIN } from './launch.ts'

/** An agent's session that a later call may go on with. */
export interface Talk {
  sessionId: string
  /** null: it stands for one call, and for the results of the tools that this one ends with. */
  stickyId: string | null
  /** What the agent has heard and said; null: that is not what any caller knows. */
  known: Known | null
  /** The last turn that was the relay's: after any other the agent knows more than its caller. */
  turnId: string | null
  /** The calls whose results its caller has been asked for. */
  calls: string[]
  /** What the agent was told before it began. */
  grounds: string
  /** The settings that it began with: with others it cannot go on. */
  place: string
  /** A call has it at the moment. */
  busy: boolean
  usedAt: number
}

type Note = Pick<Talk, 'stickyId' | 'known' | 'turnId' | 'calls' | 'grounds' | 'place'>

/** Agents that somebody may come back to. What must outlive the daemon is noted in their sessions. */
export interface Talks {
  sticky(id: string): Talk | null
  /** The one that has asked for the result of this call. */
  holding(callId: string): Talk | null
  add(talk: Talk): void
  /** This is what callers know of a named session whose turn is over. */
  knows(id: string, known: Known): Promise<void>
  /** Notes it for the next daemon. */
  save(talk: Talk): Promise<void>
  /** Forgets it and removes its session. */
  drop(talk: Talk): void
  list(): Talk[]
  /** Those that an earlier daemon left. */
  restore(): void
}

export function createTalks(
  engine: Engine,
  { now, warn }: { now: () => number; warn: (message: string, error: unknown) => void },
): Talks {
  const talks = new Map<string, Talk>()
  const named = new Map<string, Talk>()

  function add(talk: Talk): void {
    talks.set(talk.sessionId, talk)
    if (talk.stickyId !== null) named.set(talk.stickyId, talk)
  }

  function remove(sessionId: string): void {
    engine.sessions.destroy(sessionId).catch((error) => warn('removing a session of the relay', error))
  }

  async function save(talk: Talk): Promise<void> {
    const { sessionId, stickyId, known, turnId, calls, grounds, place } = talk
    talk.usedAt = now()
    const note: Note = { stickyId, known, turnId, calls, grounds, place }
    await engine.sessions.configure({ sessionId, notes: { [ORIGIN]: note } })
  }

  return {
    add,
    save,
    list: () => [...talks.values()],
    sticky: (id) => named.get(id) ?? null,
    holding: (callId) => [...talks.values()].find(({ calls }) => calls.includes(callId)) ?? null,
    async knows(id, known) {
      const talk = named.get(id)
      // One that was not asked this time knows what it knew before.
      if (!talk || talk.busy || talk.known !== null) return
      talk.known = known
      await save(talk)
    },
    drop(talk) {
      talks.delete(talk.sessionId)
      if (talk.stickyId !== null && named.get(talk.stickyId) === talk) named.delete(talk.stickyId)
      remove(talk.sessionId)
    },
    restore() {
      for (const session of Array.from(sessionsOf(engine))) {
        const note = noteIn(session)
        if (note) add({ sessionId: session.id, ...note, busy: false, usedAt: now() })
        else remove(session.id)
      }
    },
  }
}

const PAGE = 200

/** The sessions of the relay that are there, page by page. */
function* sessionsOf(engine: Pick<Engine, 'sessions'>): Generator<Session> {
  let before: { activeAt: number; id: string } | null = null
  for (;;) {
    const page: Session[] = engine.sessions.list({ limit: PAGE, before, origin: ORIGIN })
    yield* page
    const last = page.at(-1)
    if (page.length < PAGE || !last) return
    before = { activeAt: last.activeAt, id: last.id }
  }
}

/** What an earlier daemon has noted in a session; null: nobody can come back to it. */
function noteIn({ notes, turn }: Session): Note | null {
  const note = notes[ORIGIN] as (Omit<Note, 'turnId' | 'calls'> & Partial<Note>) | undefined
  if (!note) return null
  const { turnId = null, calls = [] } = note
  // A turn whose caller is gone with the last daemon answers nobody.
  const waits = calls.length > 0 && turn !== null && turn.id === turnId
  const isOver = (turn && !waits) || (note.stickyId === null && !waits)
  return isOver ? null : { ...note, turnId, calls }
}
