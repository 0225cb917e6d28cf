import type { Api, EventType, Events } from './api.ts'
import { openApprovals, type Approval, type ApprovalOptions } from './approvals.ts'
import type { ArgumentsOf, MethodName, NativeClient } from './calls.ts'
import { eventFeed, type EventFeed, type EventOptions } from './feed.ts'
import type { Dial } from './link.ts'
import { createSessions, type Sessions } from './sessions.ts'

/** A daemon. */
export interface Corral extends AsyncDisposable {
  readonly sessions: Sessions
  /** The events of all sessions, and of the daemon itself. */
  events<T extends EventType = EventType>(options?: EventOptions<T>): EventFeed<Events[T]>
  /** What waits for an answer in all sessions, then each new question. */
  approvals(options?: ApprovalOptions): AsyncIterable<Approval>
  /** Every method of the native API: docs/native.md. What may be repeated is when the connection is lost. */
  call<M extends MethodName>(method: M, ...args: ArgumentsOf<M>): Promise<Api[M]['result']>
  /** Ends everything: iterations end, what waits is rejected with `ConnectionLost`. */
  close(): void
}

export interface ConnectOptions {
  /** The daemon's data directory; `$CORRAL_HOME` or `~/.corral` by default. Programs only. */
  home?: string | undefined
  /** The path of its socket, if it is not in there. Programs only. */
  socket?: string | undefined
  /** Over WebSocket instead: `ws://127.0.0.1:2677/native`, or the address of its dashboard. A page may leave it out for the daemon that it came from. */
  url?: string | undefined
  /** For `url`: `corral token show`, or that of a device. */
  token?: string | undefined
  /** For a `wss:` URL: certificates to trust, in PEM. Programs only. */
  ca?: string | undefined
  /** Who you are, for the log: the origin of messages and decisions. `client` by default. */
  name?: string | undefined
  /** How long a daemon that went away is waited for, in milliseconds: a minute by default. */
  giveUpMs?: number | undefined
}

export interface CorralParts {
  client: NativeClient
  dial: Dial
  name?: string | undefined
  absolute(directory: string): string
  /** The client has been closed. */
  closed?(): void
}

export const GIVE_UP_MS = 60_000

export function createCorral({ client, dial, name = 'client', absolute, closed }: CorralParts): Corral {
  const closing = new AbortController()
  function close(): void {
    if (closing.signal.aborted) return
    closing.abort()
    client.close()
    closed?.()
  }
  return {
    sessions: createSessions({ client, name, dial, closing: closing.signal, absolute }),
    events: (options) => eventFeed(client, options),
    approvals: (options) => openApprovals(client, name, options),
    call: client.call,
    close,
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}
