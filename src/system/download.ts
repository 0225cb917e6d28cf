/** How much may come, and how long it may take. */
export interface Bounds {
  maxBytes: number
  timeoutMs: number
}

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** A server of one's own needs no TLS to oneself. Nothing else may be asked, or send us on, in plain text. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

function refuseUnsafe(url: URL, first: URL): void {
  // `fetch` refuses these too, but repeats the password in what it says.
  if (url.username || url.password)
    throw new Error(`${url.origin} is given with a password, which is not sent`)
  const plain = url.protocol === 'http:' && isLoopbackUrl(url) && isLoopbackUrl(first)
  if (url.protocol !== 'https:' && !plain) throw new Error(`${url.origin} is not https`)
}

/**
 * The body at this address in pieces, never more than the bounds allow. `trusted` is the address that the user configured:
 * only from there can it have been meant to go to this very machine.
 */
export async function* download(
  from: URL,
  { maxBytes, timeoutMs }: Bounds,
  trusted: URL = from,
): AsyncGenerator<Uint8Array> {
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await follow(from, trusted, signal)
  const announced = Number(response.headers.get('content-length') ?? 0)
  let received = 0
  try {
    if (announced > maxBytes) throw tooLarge(maxBytes)
    for await (const piece of response.body ?? []) {
      received += piece.length
      if (received > maxBytes) throw tooLarge(maxBytes)
      yield piece
    }
  } catch (error) {
    throw signal.aborted ? new Error(`no complete answer within ${timeoutMs} ms`, { cause: error }) : error
  } finally {
    await response.body?.cancel().catch(() => undefined)
  }
}

const tooLarge = (maxBytes: number): Error => new Error(`the answer is larger than ${maxBytes} bytes`)

async function follow(from: URL, trusted: URL, signal: AbortSignal): Promise<Response> {
  let url = from
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    refuseUnsafe(url, trusted)
    // Without the encoding `identity` a small answer could unfold into a large one.
    const response = await fetch(url, {
      signal,
      redirect: 'manual',
      headers: { 'accept-encoding': 'identity' },
    }).catch((error: unknown) => {
      throw new Error(`${url.origin} cannot be reached: ${reasonOf(error)}`, { cause: error })
    })
    if (response.ok) return response
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (!REDIRECTS.has(response.status) || location === null) {
      throw new Error(`${url.origin} answers with status ${response.status}`)
    }
    url = new URL(location, url)
  }
  throw new Error(`${from.origin} sends us on more than ${MAX_REDIRECTS} times`)
}

/** `fetch` keeps what went wrong in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

export async function downloadText(from: URL, bounds: Bounds, trusted: URL = from): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of download(from, bounds, trusted)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}
