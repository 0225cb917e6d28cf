import type { Api, Counts, SessionRow, SessionView } from './api.ts'
import type { Dial } from './link.ts'
import { newKey, sessionOf, type Session, type SessionContext } from './session.ts'
import { watchRows, type RowsUpdate, type WatchParams } from './watch.ts'

type CreateParams = Api['session.create']['params']

export interface StartOptions extends Omit<CreateParams, 'agent' | 'cwd' | 'origin'> {
  /** `claude`, `codex`, …; as `corral new` chooses by default. */
  agent?: string | undefined
  /** That the agent works in. For a program, relative to its own. */
  directory: string
}

export type ListOptions = Omit<Api['session.list']['params'], 'cursor'>

/** All sessions as they are now, the last active first. */
export interface SessionList {
  sessions: SessionRow[]
  counts: Counts
}

export interface WatchOptions extends WatchParams {
  /** Ends the iteration. */
  signal?: AbortSignal | undefined
}

export interface Sessions {
  /** Makes a session; its process starts with the first message. Without `mode` it is the one of `corral new`. */
  start(options: StartOptions): Promise<Session>
  /** A session by its id. */
  get(sessionId: string): Promise<Session>
  /** The most recently active first; read a page at a time. */
  list(options?: ListOptions): AsyncIterable<SessionView>
  /** The list, and again whenever it has changed. A slow reader gets the newest, not every one. */
  watch(options?: WatchOptions): AsyncIterable<SessionList>
}

export interface SessionsContext extends SessionContext {
  dial: Dial
  /** The client is closed. */
  closing: AbortSignal
  /** What a directory is called for the daemon. */
  absolute(directory: string): string
}

export function createSessions(context: SessionsContext): Sessions {
  const { client, name, absolute } = context
  return {
    async start({ agent, directory, mode, key = newKey(), ...rest }) {
      const isWhole = agent !== undefined && mode !== undefined
      const usual = isWhole ? { agent, mode } : await client.call('session.defaults')
      const view = await client.call('session.create', {
        ...rest,
        agent: agent ?? usual.agent,
        mode: mode ?? usual.mode,
        cwd: absolute(directory),
        key,
        origin: name,
      })
      return sessionOf(context, view)
    },
    get: async (sessionId) => sessionOf(context, await client.call('session.get', { sessionId })),
    async *list(options = {}) {
      let cursor: string | undefined
      do {
        const page = await client.call('session.list', { ...options, cursor })
        yield* page.sessions
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
    },
    watch: (options) => watchList(context, options),
  }
}

async function* watchList(
  { dial, closing }: SessionsContext,
  { signal, ...params }: WatchOptions = {},
): AsyncGenerator<SessionList, void, undefined> {
  const stopping = new AbortController()
  const over = AbortSignal.any([closing, stopping.signal, ...(signal ? [signal] : [])])
  const list = createList()
  let wake = (): void => {}
  let failure: { error: unknown } | null = null
  const tell = (update: RowsUpdate): void => {
    list.take(update)
    wake()
  }
  over.addEventListener('abort', () => wake())
  watchRows(dial, params, tell, over).catch((error: unknown) => {
    failure = { error }
    wake()
  })
  try {
    for (;;) {
      if (over.aborted) return
      if (failure) throw (failure as { error: unknown }).error
      const now = list.give()
      if (now) yield now
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    stopping.abort()
  }
}

/** The rows as they are; what changes meanwhile takes the place of what was. */
function createList() {
  const rows = new Map<string, SessionRow>()
  let counts: Counts | null = null
  let hasChanged = false
  return {
    take(update: RowsUpdate): void {
      if (update.kind === 'all') rows.clear()
      for (const row of update.kind === 'all' ? update.sessions : update.changed) rows.set(row.id, row)
      for (const id of update.kind === 'all' ? [] : update.removed) rows.delete(id)
      counts = update.counts
      hasChanged = true
    },
    /** Null: nothing is new. */
    give(): SessionList | null {
      if (!hasChanged || !counts) return null
      hasChanged = false
      return { sessions: [...rows.values()].sort((a, b) => b.activeAt - a.activeAt), counts }
    },
  }
}
