import { DEFAULT_MAX_MESSAGE } from '../transports/ndjson.ts'
import type { Api } from './api.ts'
import { ConnectionLost, createPendingRequests, DaemonUnreachable, type Link, type Notified } from './link.ts'

/** How long the daemon may take to answer the first time. */
const OPEN_MS = 10_000
/** After so much silence the daemon is asked for a sign of life. */
const SILENCE_MS = 20_000
/** And given up when it has not given one for so long. */
const ANSWER_MS = 8_000

/** What lets in: a token, or the key of a page that has a cookie. */
export type Pass = Api['daemon.auth']['params']

/** A connection that knows whether the other end is still there. */
export interface Socket extends Link {
  /** Asks for a sign of life now: the machine may have slept. */
  probe(): void
}

/** Dials, and shows what lets this page in. Throws `NativeError` with the code `unauthorized` when that is not good any more. */
export async function openSocket(url: string, pass: Pass, notified: Notified): Promise<Socket> {
  const ws = new WebSocket(url)
  const { promise: closed, resolve: ended } = Promise.withResolvers<void>()
  const pending = createPendingRequests((json) => ws.send(json), notified, DEFAULT_MAX_MESSAGE)
  const isOpen = (): boolean => ws.readyState === WebSocket.OPEN
  function over(): void {
    life.stop()
    pending.lost()
    ended()
  }
  const life = watchLife(
    () => pending.request('daemon.status', {}),
    () => {
      ws.close()
      over() // a browser may take its time to find out that nobody answers
    },
  )
  ws.addEventListener('message', ({ data }) => {
    life.heard()
    pending.receive(String(data))
  })
  ws.addEventListener('close', over)
  await opened(ws, url)
  life.heard() // also the answer to the first request is not waited for without end
  const request: Link['request'] = (...call) =>
    isOpen() ? pending.request(...call) : Promise.reject(new ConnectionLost())
  try {
    await request('daemon.auth', pass)
  } catch (error) {
    ws.close()
    over()
    throw error
  }
  life.heard()
  return {
    get open() {
      return isOpen()
    },
    request,
    // A page cannot keep its browser from reading.
    pause: () => false,
    resume: () => {},
    close: () => ws.close(),
    closed,
    probe: life.probe,
  }
}

function opened(ws: WebSocket, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => ws.close(), OPEN_MS)
    ws.addEventListener('open', () => {
      clearTimeout(timer)
      resolve()
    })
    // Browsers do not say why: the daemon is away, or refuses.
    ws.addEventListener('close', () => {
      clearTimeout(timer)
      reject(new DaemonUnreachable(url, null))
    })
  })
}

/** Notices that nobody is there any more, which a broken network does not tell. */
function watchLife(ask: () => Promise<unknown>, giveUp: () => void) {
  let silence: ReturnType<typeof setTimeout> | undefined
  let patience: ReturnType<typeof setTimeout> | undefined

  function probe(): void {
    clearTimeout(silence)
    if (patience !== undefined) return
    patience = setTimeout(giveUp, ANSWER_MS)
    ask().catch(() => {})
  }

  function stop(): void {
    clearTimeout(silence)
    clearTimeout(patience)
    patience = undefined
  }

  return {
    probe,
    stop,
    heard() {
      stop()
      silence = setTimeout(probe, SILENCE_MS)
    },
  }
}
