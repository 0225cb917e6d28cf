import { createClient, type NativeClient } from '../../src/dialects/native/calls.ts'
import { ConnectionLost, DaemonUnreachable, NativeError, type Dial } from '../../src/dialects/native/link.ts'
import { createConnection, type Status } from './connection.ts'
import { pageKey, whoami } from './pass.ts'
import type { RowsUpdate, WatchParams } from './rows.ts'

export { NativeError } from '../../src/dialects/native/link.ts'
export type { Api, MethodName } from '../../src/dialects/native/calls.ts'
export type { EventStream } from '../../src/dialects/native/event-stream.ts'
export type { Status } from './connection.ts'

/** The daemon, for a web page: calls, events and the list of sessions over one WebSocket that comes back by itself. */
export interface WebClient extends NativeClient {
  /** The list of sessions, then what changes in it; from the beginning again after each lost connection. Returns how to stop. */
  watch(params: WatchParams, onRows: (update: RowsUpdate) => void): () => void
  /** The network is back, or somebody looks: try now. */
  nudge(): void
}

export interface WebClientOptions {
  url: string
  onStatus(status: Status): void
}

export function connect({ url, onStatus }: WebClientOptions): WebClient {
  const connection = createConnection({
    url,
    key: pageKey,
    isSignedIn: async () => (await whoami()).signedIn,
    tell: onStatus,
  })
  const client = createClient(connection.dial, { reconnect: true, giveUpMs: Infinity })
  const closing = new AbortController()
  return {
    ...client,
    watch: (params, onRows) => watchRows(connection.dial, params, onRows, closing.signal),
    nudge: connection.nudge,
    close() {
      closing.abort()
      client.close()
      connection.close()
    },
  }
}

type Snapshot = Omit<Extract<RowsUpdate, { kind: 'all' }>, 'kind'>
type Change = Omit<Extract<RowsUpdate, { kind: 'some' }>, 'kind'>

const AGAIN_MS = 500

function watchRows(
  dial: Dial,
  params: WatchParams,
  onRows: (update: RowsUpdate) => void,
  closing: AbortSignal,
): () => void {
  const stopping = new AbortController()
  const over = AbortSignal.any([closing, stopping.signal])

  /** One connection's worth. */
  async function follow(): Promise<void> {
    const link = await dial((_, changed) => {
      if (!over.aborted) onRows({ kind: 'some', ...(changed as Change) })
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

  async function keepOn(): Promise<void> {
    while (!over.aborted) {
      try {
        await follow()
      } catch (error) {
        if (!isPassing(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }

  keepOn().catch((error: unknown) => {
    if (!over.aborted && !isSignedOut(error)) console.error('the list of sessions cannot be watched', error)
  })
  return () => stopping.abort()
}

/** The page says so itself, and begins anew when somebody signs in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof NativeError && error.code === 'unauthorized'
}

/** What another try may mend. */
function isPassing(error: unknown): boolean {
  if (error instanceof NativeError) return error.code === 'stopping'
  return error instanceof DaemonUnreachable || error instanceof ConnectionLost
}
