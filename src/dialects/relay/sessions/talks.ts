import type { Engine } from '../../../core/api.ts'
import type { Session } from '../../../core/session.ts'
import type { Known } from './history.ts'
import { ORIGIN } from './launch.ts'

/** A conversation of the relay's: a session, and what its caller believes to have said in it. */
export interface Talk {
  sessionId: string
  /** null: it stands for one call, and for the results of the tools that this one ends with. */
  stickyId: string | null
  /** null: what the agent has is not what the caller has; the next call begins anew. */
  known: Known | null
  /** What the agent was told before it began. */
  grounds: string
  /** The settings that it began with: with others it cannot go on. */
  place: string
  /** A call has it at the moment. */
  busy: boolean
  /** Its agent waits for results. */
  held: boolean
  usedAt: number
}

type Note = Pick<Talk, 'stickyId' | 'known' | 'grounds' | 'place'>

/** Every conversation that somebody may come back to. What must outlive the daemon is noted in its session. */
export interface Talks {
  sticky(id: string): Talk | null
  /** The one whose agent waits for the result of this call. */
  holding(callId: string): Talk | null
  add(talk: Talk): void
  /** What is known of it has changed. */
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
    engine.destroy(sessionId).catch((error) => warn('removing a session of the relay', error))
  }

  /** The sessions of the relay that are there, page by page. */
  function* sessions(): Generator<Session> {
    let before: { activeAt: number; id: string } | null = null
    for (;;) {
      const page: Session[] = engine.sessions({ limit: PAGE, before, origin: ORIGIN })
      yield* page
      const last = page.at(-1)
      if (page.length < PAGE || !last) return
      before = { activeAt: last.activeAt, id: last.id }
    }
  }

  return {
    add,
    list: () => [...talks.values()],
    sticky: (id) => named.get(id) ?? null,
    holding(callId) {
      for (const talk of talks.values()) {
        if (callsOf(engine, talk).includes(callId)) return talk
      }
      return null
    },
    async save(talk) {
      const { sessionId, stickyId, known, grounds, place } = talk
      talk.usedAt = now()
      const note: Note = { stickyId, known, grounds, place }
      await engine.configure({ sessionId, notes: { [ORIGIN]: note } })
    },
    drop(talk) {
      talks.delete(talk.sessionId)
      if (talk.stickyId !== null && named.get(talk.stickyId) === talk) named.delete(talk.stickyId)
      remove(talk.sessionId)
    },
    restore() {
      for (const { id, notes, calls, turn } of Array.from(sessions())) {
        const note = notes[ORIGIN] as Note | undefined
        const waits = calls.length > 0
        // A turn whose caller is gone with the last daemon answers nobody.
        if (!note || (turn && !waits) || (note.stickyId === null && !waits)) remove(id)
        else add({ sessionId: id, ...note, busy: false, held: waits, usedAt: now() })
      }
    },
  }
}

const PAGE = 200

/** The calls whose results its agent waits for. */
export function callsOf(engine: Pick<Engine, 'session'>, { sessionId }: Talk): string[] {
  try {
    return engine.session(sessionId).calls.flatMap(({ callId, result }) => (result ? [] : [callId]))
  } catch {
    return [] // it was removed by somebody else
  }
}
