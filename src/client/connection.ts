import { DaemonUnreachable, NativeError, unauthorized, type Dial } from './link.ts'
import { channelOver, toListeners, type Listeners } from './channel.ts'
import { openSocket, type Pass, type Socket } from './socket.ts'

/** `lost`: nobody answers, and it is tried again. `signed_out`: nothing is tried until somebody signs in. */
export type Status = 'connecting' | 'live' | 'lost' | 'signed_out'

export interface ConnectionParts {
  /** `ws://host:port/native` */
  url: string
  /** Null: there is nothing that would let in. */
  pass(): Pass | null
  /** Whether the daemon still knows this page; throws when it cannot be asked. */
  isSignedIn?(): Promise<boolean>
  tell(status: Status): void
}

const NOT_SIGNED_IN = 'the daemon knows nothing of this token, or was given none'

export interface Connection {
  /** A channel over the one WebSocket. Throws `DaemonUnreachable` when this attempt fails. */
  dial: Dial
  /** Something may have changed: the network is back or gone, or somebody looks. */
  nudge(): void
  close(): void
}

/** One WebSocket for everything, made again whenever it is lost. */
export function createConnection({ url, pass, isSignedIn, tell }: ConnectionParts): Connection {
  const listeners: Listeners = new Map()
  // Nobody may be waiting, and the person sees whether it is live all the same.
  const retry = createRetry(() => void standing().catch(() => {}))
  let socket: Socket | null = null
  let attempt: Promise<Socket> | null = null
  const state = createState(tell)

  async function open(): Promise<Socket> {
    try {
      socket = await openSocket(url, pass() ?? {}, toListeners(listeners))
      void socket.closed.then(lost)
      retry.reset()
      state.become('live')
      if (state.isStopped) socket.close()
      return socket
    } catch (error) {
      const refused = error instanceof NativeError && error.code === 'unauthorized'
      const isKnown = !refused && (await isSignedIn?.().catch(() => true)) !== false
      if (!isKnown) {
        state.become('signed_out')
        throw unauthorized(NOT_SIGNED_IN)
      }
      state.become('lost')
      retry.later()
      throw new DaemonUnreachable(url, error)
    }
  }

  function lost(): void {
    socket = null
    listeners.clear()
    state.become('lost')
    retry.now()
  }

  function standing(): Promise<Socket> {
    if (socket?.open) return Promise.resolve(socket)
    if (pass() === null) state.become('signed_out')
    if (state.now === 'signed_out') return Promise.reject(unauthorized(NOT_SIGNED_IN))
    attempt ??= open().finally(() => (attempt = null))
    return attempt
  }

  retry.now()
  return {
    dial: async (notified) => channelOver(await standing(), listeners, notified),
    nudge() {
      retry.reset()
      if (socket) socket.probe()
      else retry.now()
    },
    close() {
      state.stop()
      retry.stop()
      socket?.close()
    },
  }
}

/** What it is now; changes are told until it is stopped. */
function createState(tell: (status: Status) => void) {
  let now: Status = 'connecting'
  let isStopped = false
  return {
    get now() {
      return now
    },
    get isStopped() {
      return isStopped
    },
    become(next: Status): void {
      if (now === next || isStopped) return
      now = next
      tell(next)
    },
    stop: () => void (isStopped = true),
  }
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5000

/** Tries again and again, after longer and longer times, until it is stopped. */
function createRetry(attempt: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let wait = FIRST_WAIT_MS
  let isStopped = false

  function now(): void {
    clearTimeout(timer)
    if (!isStopped) attempt()
  }

  return {
    now,
    later() {
      if (isStopped) return
      clearTimeout(timer)
      // Not all pages at the same moment.
      timer = setTimeout(now, wait * (0.75 + Math.random() / 2))
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    },
    reset: () => void (wait = FIRST_WAIT_MS),
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
