import { createClient, type NativeClient } from '../../src/client/calls.ts'
import { NativeError, type Dial } from '../../src/client/link.ts'
import { createConnection, type Status } from '../../src/client/connection.ts'
import { watchRows, type RowsUpdate, type WatchParams } from '../../src/client/watch.ts'
import { pageKey, whoami } from './pass.ts'

export { NativeError } from '../../src/client/link.ts'
export type { Api, MethodName } from '../../src/client/calls.ts'
export type { EventStream } from '../../src/client/event-stream.ts'
export type { Status } from '../../src/client/connection.ts'

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
    pass: () => (pageKey() === '' ? null : { key: pageKey() }),
    isSignedIn: async () => (await whoami()).signedIn,
    tell: onStatus,
  })
  const client = createClient(connection.dial, { reconnect: true, giveUpMs: Infinity })
  const closing = new AbortController()
  return {
    ...client,
    watch: (params, onRows) => watching(connection.dial, params, onRows, closing.signal),
    nudge: connection.nudge,
    close() {
      closing.abort()
      client.close()
      connection.close()
    },
  }
}

function watching(
  dial: Dial,
  params: WatchParams,
  onRows: (update: RowsUpdate) => void,
  closing: AbortSignal,
): () => void {
  const stopping = new AbortController()
  const over = AbortSignal.any([closing, stopping.signal])
  watchRows(dial, params, onRows, over).catch((error: unknown) => {
    if (!over.aborted && !isSignedOut(error)) console.error('the list of sessions cannot be watched', error)
  })
  return () => stopping.abort()
}

/** The page says so itself, and begins anew when somebody signs in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof NativeError && error.code === 'unauthorized'
}
