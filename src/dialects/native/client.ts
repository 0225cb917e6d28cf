import { setTimeout as delay } from 'node:timers/promises'
import { dial, type Target } from './dial.ts'
import { EventStream, type StreamOptions } from './event-stream.ts'
import { ConnectionLost, DaemonUnreachable, NativeError, type Link, type Notified } from './link.ts'
import type { Api } from './methods.ts'
import { KEYED, REPEATABLE } from './repeats.ts'

export { DaemonUnreachable, NativeError } from './link.ts'
export type { EventStream, StreamOptions } from './event-stream.ts'
export type { Api } from './methods.ts'

export interface ClientOptions {
  /** Come back by itself when the daemon does: calls that may be repeated are, event streams read on. */
  reconnect?: boolean
  /** Give up when nobody has answered for this long. */
  giveUpMs?: number
  /** For a `ws:` or `wss:` address: what lets you in. */
  token?: string | undefined
  /** For a `wss:` address: certificates to trust, in PEM. */
  ca?: string | undefined
}

export type MethodName = keyof Api

/** Parameters may be left out where none is required. */
type ArgumentsOf<M extends MethodName> =
  Record<string, never> extends Api[M]['params'] ? [params?: Api[M]['params']] : [params: Api[M]['params']]

export interface NativeClient {
  call<M extends MethodName>(method: M, ...args: ArgumentsOf<M>): Promise<Api[M]['result']>
  /** Begins at once, on a connection of its own: a slow reader holds up nothing else. */
  events(options?: StreamOptions): EventStream
  close(): void
}

/**
 * Dials the daemon, at the path of its socket or at a URL (`ws://127.0.0.1:2677/native`); throws `DaemonUnreachable` when
 * there is none, also with `reconnect`.
 */
export async function connect(address: string, options: ClientOptions = {}): Promise<NativeClient> {
  const { reconnect = false, giveUpMs = 60_000, token, ca } = options
  const target = { address, token, ca }
  const closing = new AbortController()
  let link = await dial(target)
  let dialling: Promise<Link> | null = null

  /** All who find the line dead wait for the same new one. */
  async function current(): Promise<Link> {
    if (link.open || !reconnect) return link
    dialling ??= redial(target, giveUpMs, closing.signal).finally(() => (dialling = null))
    link = await dialling
    if (closing.signal.aborted) link.close()
    return link
  }

  async function call(method: string, params: unknown = {}): Promise<unknown> {
    for (;;) {
      closing.signal.throwIfAborted()
      const held = await current()
      try {
        return await held.request(method, params)
      } catch (error) {
        if (!reconnect || closing.signal.aborted || !mayRepeat(method, params, error)) throw error
        await held.closed
      }
    }
  }

  return {
    call: call as NativeClient['call'],
    events(streamOptions = {}) {
      const again = reconnect ? redial : null
      return new EventStream({ target, options: streamOptions, again, giveUpMs, signal: closing.signal })
    },
    close() {
      closing.abort(new ConnectionLost('the client was closed'))
      link.close()
    },
  }
}

/** Only where the second time counts for nothing: the descriptors of the methods say so. */
function mayRepeat(method: string, params: unknown, error: unknown): boolean {
  const lost = error instanceof ConnectionLost || (error instanceof NativeError && error.code === 'stopping')
  if (!lost) return false
  const keyed = typeof params === 'object' && params !== null && ('key' in params || 'id' in params)
  return REPEATABLE.has(method) || (keyed && KEYED.has(method))
}

/** Tries until somebody listens again. */
async function redial(
  target: Target,
  giveUpMs: number,
  signal: AbortSignal,
  notified?: Notified,
): Promise<Link> {
  const deadline = Date.now() + giveUpMs
  for (let wait = 20; ; wait = Math.min(wait * 2, 1000)) {
    signal.throwIfAborted()
    try {
      return await dial(target, notified)
    } catch (error) {
      if (!(error instanceof DaemonUnreachable) || Date.now() + wait > deadline) throw error
    }
    await delay(wait, undefined, { signal }).catch(() => {})
  }
}
