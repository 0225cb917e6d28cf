import { EventStream, type StreamOptions } from './event-stream.ts'
import {
  ConnectionLost,
  DaemonUnreachable,
  NativeError,
  type Dial,
  type Link,
  type Notified,
} from './link.ts'
import type { Api } from './api.ts'
import { AIMED, KEYED, REPEATABLE } from './repeats.ts'

/*
 * The client without its connection: `dial.ts` makes one for programs, `socket.ts` for web pages.
 * Nothing here needs Node.
 */

export type { Api }

export type MethodName = keyof Api

/** Parameters may be left out where none is required. */
export type ArgumentsOf<M extends MethodName> =
  Record<string, never> extends Api[M]['params'] ? [params?: Api[M]['params']] : [params: Api[M]['params']]

export interface NativeClient {
  call<M extends MethodName>(method: M, ...args: ArgumentsOf<M>): Promise<Api[M]['result']>
  /** Begins at once. A slow reader holds up nothing else: for a program, each stream has a connection of its own. */
  events(options?: StreamOptions): EventStream
  close(): void
}

export interface ReconnectOptions {
  /** Come back by itself when the daemon does: calls that may be repeated are, event streams read on. */
  reconnect: boolean
  /** Give up when nobody has answered for this long. */
  giveUpMs: number
}

/** `first` is a connection that stands already. */
export function createClient(
  dial: Dial,
  { reconnect, giveUpMs }: ReconnectOptions,
  first: Link | null = null,
): NativeClient {
  const closing = new AbortController()
  let link = first
  let dialling: Promise<Link> | null = null
  const again = (signal: AbortSignal, notified?: Notified): Promise<Link> =>
    reconnect ? redial(dial, giveUpMs, signal, notified) : dial(notified)

  /** All who find the line dead wait for the same new one. */
  async function current(): Promise<Link> {
    if (link && (link.open || !reconnect)) return link
    dialling ??= again(closing.signal).finally(() => (dialling = null))
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
        if (error instanceof ConnectionLost) closing.signal.throwIfAborted()
        if (!reconnect || closing.signal.aborted || !mayRepeat(method, params, error)) throw error
        await held.closed
      }
    }
  }

  return {
    call: call as NativeClient['call'],
    events(options = {}) {
      const dialAgain = (notified: Notified | undefined, signal: AbortSignal) => again(signal, notified)
      return new EventStream({ dial: dialAgain, options, reconnect, signal: closing.signal })
    },
    close() {
      closing.abort(new ConnectionLost('the client was closed', 'closed'))
      link?.close()
    },
  }
}

/** Only where the second time counts for nothing: the descriptors of the methods say so. */
function mayRepeat(method: string, params: unknown, error: unknown): boolean {
  const lost = error instanceof ConnectionLost || (error instanceof NativeError && error.code === 'stopping')
  if (!lost) return false
  const has = (name: string): boolean => typeof params === 'object' && params !== null && name in params
  if (KEYED.has(method)) return has('key') || has('id')
  return AIMED.has(method) ? has('turnId') : REPEATABLE.has(method)
}

/** Tries until somebody listens again. */
async function redial(dial: Dial, giveUpMs: number, signal: AbortSignal, notified?: Notified): Promise<Link> {
  const deadline = Date.now() + giveUpMs
  for (let wait = 20; ; wait = Math.min(wait * 2, 1000)) {
    signal.throwIfAborted()
    try {
      return await dial(notified)
    } catch (error) {
      if (!(error instanceof DaemonUnreachable) || Date.now() + wait > deadline) throw error
    }
    await pause(wait, signal)
  }
}

/** Resolves early when it is not to be waited for any more. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
