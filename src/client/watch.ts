import type { Api, Counts, SessionRow } from './api.ts'
import { ConnectionLost, DaemonUnreachable, NativeError, type Dial } from './link.ts'

type Watched = Api['session.watch']['result']
export type WatchParams = Api['session.watch']['params']

/** The whole list of sessions, or what has changed in it. */
export type RowsUpdate =
  | ({ kind: 'all' } & Omit<Watched, 'watchId'>)
  | { kind: 'some'; seq: number; changed: SessionRow[]; removed: string[]; counts: Counts }

type Snapshot = Omit<Extract<RowsUpdate, { kind: 'all' }>, 'kind'>
type Change = Omit<Extract<RowsUpdate, { kind: 'some' }>, 'kind'>

const AGAIN_MS = 500

/**
 * The list of sessions, then what changes in it; from the beginning again after each lost connection, until `over`. Throws
 * what another try cannot mend.
 */
export async function watchRows(
  dial: Dial,
  params: WatchParams,
  onRows: (update: RowsUpdate) => void,
  over: AbortSignal,
): Promise<void> {
  /** One connection's worth. */
  async function follow(): Promise<void> {
    const link = await dial((method, changed) => {
      if (method === 'sessions.closed') link.close()
      else if (!over.aborted) onRows({ kind: 'some', ...(changed as Change) })
    })
    const stop = (): void => link.close()
    over.addEventListener('abort', stop)
    if (over.aborted) return stop()
    await link.request('session.watch', params, (snapshot) => {
      if (!over.aborted) onRows({ kind: 'all', ...(snapshot as Snapshot) })
    })
    await link.closed
    over.removeEventListener('abort', stop)
  }

  while (!over.aborted) {
    try {
      await follow()
    } catch (error) {
      if (over.aborted) return
      if (!isPassing(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}

/** What another try may mend. */
function isPassing(error: unknown): boolean {
  if (error instanceof NativeError) return error.code === 'stopping'
  return error instanceof DaemonUnreachable || error instanceof ConnectionLost
}
