import type { Piece } from '../ask.ts'
import { RelayFailure } from '../failure.ts'
import { notAcquired } from '../sessions/failures.ts'
import { afterFailure, afterSuccess, type Health, verdictOf, WELL } from './health.ts'
import type { ModelCall, Provider } from './provider.ts'

/** Who was passed over, and why. */
export interface PassedOver {
  provider: string
  error: string
}

/** Somebody answers. */
export interface Answered {
  provider: string
  countsItself: boolean
  fallbackChain: PassedOver[]
  /** From the first one to `end`. */
  pieces: AsyncIterable<Piece>
}

export interface ProviderStatus {
  provider: string
  status: 'ok' | 'degraded' | 'unavailable'
  reason: string | null
  /** When it is asked again, in milliseconds since 1970. */
  retryAt: number | null
}

export interface Cascade {
  /** Resolves with the first piece there. Rejects with a `RelayFailure`: nothing has been answered then. */
  answer(call: ModelCall): Promise<Answered>
  status(): Promise<ProviderStatus[]>
}

export interface CascadeOptions {
  /** In the order in which they are asked; read for each call. */
  providers(): readonly Provider[]
  now?: () => number
}

interface Candidate {
  provider: Provider
  health: Health
}

interface Attempt {
  provider: string
  failure: RelayFailure
}

/**
 * Asks one provider after the other until one answers. Whoever has failed rests for a while. If there is only one that could
 * be asked, resting helps nobody: it is asked all the same, unless it has said itself when to come back.
 */
export function createCascade({ providers, now = Date.now }: CascadeOptions): Cascade {
  const book: Book = { health: new WeakMap(), now }
  return {
    answer: (call) => firstToAnswer(book, providers, call),
    status: () =>
      Promise.all(
        providers().map(async (provider) => {
          const absent = await provider.unavailable()
          return statusOf(provider.name, absent, healthOf(book, provider), now())
        }),
      ),
  }
}

/** What is known about the providers. */
interface Book {
  health: WeakMap<Provider, Health>
  now: () => number
}

function healthOf({ health }: Book, provider: Provider): Health {
  return health.get(provider) ?? WELL
}

function noteFailure(book: Book, provider: Provider, failure: RelayFailure, startedAt: number): void {
  const times = { startedAt, now: book.now() }
  book.health.set(provider, afterFailure(healthOf(book, provider), failure, times))
}

function noteSuccess(book: Book, provider: Provider, startedAt: number): void {
  book.health.set(provider, afterSuccess(healthOf(book, provider), startedAt))
}

async function firstToAnswer(
  book: Book,
  providers: CascadeOptions['providers'],
  call: ModelCall,
): Promise<Answered> {
  const { now } = book
  const { present, absent } = await split(book, providers())
  if (call.signal.aborted) throw gone()
  if (present.length === 0) throw nobody(absent, call)
  const [ready, resting] = partition(present, now())
  if (ready.length === 0) throw allRest(resting, now())
  const passed = [...absent, ...resting.map(restingWords)]
  const attempts: Attempt[] = []
  for (const { provider } of ready) {
    const pieces = await tried(book, provider, call, attempts)
    const fallbackChain = inOrder(providers(), [...passed, ...attempts.map(attemptWords)])
    const { name, countsItself = false } = provider
    if (pieces) return { provider: name, countsItself, fallbackChain, pieces }
    if (verdictOf(attempts.at(-1)!.failure) === 'final') break
  }
  throw reported(attempts, inOrder(providers(), [...passed, ...attempts.map(attemptWords)]))
}

async function split(
  book: Book,
  providers: readonly Provider[],
): Promise<{ present: Candidate[]; absent: PassedOver[] }> {
  const present: Candidate[] = []
  const absent: PassedOver[] = []
  for (const provider of providers) {
    const error = await provider.unavailable()
    if (error === null) present.push({ provider, health: healthOf(book, provider) })
    else absent.push({ provider: provider.name, error })
  }
  return { present, absent }
}

/** Null: it failed, and the attempts have it. */
async function tried(
  book: Book,
  provider: Provider,
  call: ModelCall,
  attempts: Attempt[],
): Promise<AsyncIterable<Piece> | null> {
  const startedAt = book.now()
  try {
    const pieces = provider.answer(call)[Symbol.asyncIterator]()
    const first = await pieces.next()
    if (first.done === true) throw new RelayFailure(500, 'api_error', `${provider.name}: it said nothing`)
    return rest(first.value, pieces, {
      failed: (failure) => call.signal.aborted || noteFailure(book, provider, failure, startedAt),
      left: () => call.signal.aborted || noteSuccess(book, provider, startedAt),
    })
  } catch (error) {
    if (call.signal.aborted) throw gone()
    const failure = asFailure(error)
    noteFailure(book, provider, failure, startedAt)
    attempts.push({ provider: provider.name, failure })
    return null
  }
}

function partition(present: Candidate[], now: number): [ready: Candidate[], resting: Candidate[]] {
  const alone = present.length === 1
  const rests = ({ health }: Candidate): boolean => health.until > now && (!alone || health.named)
  return [present.filter((candidate) => !rests(candidate)), present.filter(rests)]
}

/** Only what was read to its end, or as far as somebody wanted it, is a success. */
async function* rest(
  first: Piece,
  pieces: AsyncIterator<Piece>,
  how: { failed(failure: RelayFailure): void; left(): void },
): AsyncGenerator<Piece> {
  let over = false
  let broken = false
  try {
    yield first
    for (;;) {
      const next = await pieces.next()
      over = next.done === true
      if (next.done) return
      yield next.value
    }
  } catch (error) {
    over = broken = true
    const failure = asFailure(error)
    how.failed(failure)
    throw failure
  } finally {
    if (!broken) how.left()
    // Who stops reading stops the provider.
    if (!over) await pieces.return?.()
  }
}

function asFailure(error: unknown): RelayFailure {
  if (error instanceof RelayFailure) return error
  return new RelayFailure(500, 'api_error', 'The provider failed', { cause: error })
}

function gone(): RelayFailure {
  return new RelayFailure(499, 'api_error', 'The client is gone')
}

/** As clients know it; what to do about it is beside it. */
const NOT_FOUND: Readonly<Record<string, string>> = {
  'claude-pty': 'claude binary not found on PATH or known locations',
}

function nobody(absent: PassedOver[], { id, stickyId }: ModelCall): RelayFailure {
  const why = absent.map(({ provider, error }) => NOT_FOUND[provider] ?? `${provider}: ${error}`).join('; ')
  const hint = 'Install an agent, or configure an upstream in the relay settings'
  return notAcquired(why || 'there is no provider', stickyId ?? id, { hint, fallbackChain: absent })
}

function allRest(resting: Candidate[], now: number): RelayFailure {
  const wait = Math.max(0, Math.min(...resting.map(({ health }) => health.until)) - now)
  const seconds = Math.ceil(wait / 1000)
  const busy = resting.every(({ health }) => [429, 529].includes(health.reason!.status))
  const fallbackChain = resting.map(restingWords)
  const why = fallbackChain.map(({ error }) => error).join('; ')
  const message = `Nobody can answer just now, try again in ${seconds} s (${why})`
  const more = { retryAfterMs: wait, extra: { fallbackChain } }
  return busy
    ? new RelayFailure(529, 'overloaded_error', message, more)
    : new RelayFailure(503, 'api_error', message, more)
}

/** What heals by itself. Where nobody has said how long that takes, SDKs may try again soon. */
const HEALING = [429, 500, 503, 529]
const SOON_MS = 1000

/** The last failure tells most. That the body was too large only matters if it was so for everybody. */
function reported(attempts: Attempt[], fallbackChain: PassedOver[]): RelayFailure {
  const { failure } = attempts.findLast(({ failure }) => failure.status !== 413) ?? attempts.at(-1)!
  const { status, kind, message, field, cause } = failure
  const retryAfterMs = failure.retryAfterMs ?? (HEALING.includes(status) ? SOON_MS : null)
  const extra = fallbackChain.length > 1 ? { ...failure.extra, fallbackChain } : failure.extra
  return new RelayFailure(status, kind, message, { extra, retryAfterMs, field, cause })
}

function restingWords({ provider, health }: Candidate): PassedOver {
  return { provider: provider.name, error: `it rests after: ${health.reason!.message}` }
}

function attemptWords({ provider, failure }: Attempt): PassedOver {
  return { provider, error: failure.message }
}

function inOrder(providers: readonly Provider[], passed: PassedOver[]): PassedOver[] {
  const place = ({ provider }: PassedOver): number => providers.findIndex(({ name }) => name === provider)
  return passed.toSorted((a, b) => place(a) - place(b))
}

function statusOf(provider: string, absent: string | null, health: Health, now: number): ProviderStatus {
  if (absent !== null) return { provider, status: 'unavailable', reason: absent, retryAt: null }
  if (health.until <= now) return { provider, status: 'ok', reason: null, retryAt: null }
  return { provider, status: 'degraded', reason: health.reason!.message, retryAt: health.until }
}
