import { AssertionError } from 'node:assert'
import type { ChildProcess } from 'node:child_process'
import { afterEach, beforeEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** How soon a fact is looked at again, at first and at the most: what takes long is looked at less often. */
const SOONEST_MS = 10
const LATEST_MS = 100

/** The runner's limit for one test; 0 where nobody gave one: a file that is run by hand, or a bench. */
const RUNNER_MS = Number(
  process.execArgv.findLast((flag) => flag.startsWith('--test-timeout='))?.split('=')[1] ?? 0,
)

/** Without one it is that of `npm test`. */
const LIMIT_MS = RUNNER_MS || 120_000

/** A tenth of it is left for the test to say what was missing, and to clean up. */
export const PATIENCE_MS = LIMIT_MS * 0.9

/** When the test that runs now began; null between tests. */
let testBegan: number | null = null

if (RUNNER_MS > 0) {
  beforeEach(() => void (testBegan = performance.now()))
  afterEach(() => void (testBegan = null))
}

type What = string | (() => string)

/** Neither null, undefined, false, 0 nor empty. */
type Truthy<T> = Exclude<T, null | undefined | false | 0 | ''>

/**
 * Waits for a fact: looks again until it is truthy, and returns it. The test's own time is the only limit; just before
 * it is over, the error says what did not come and what was seen last. A failed assertion is an answer like any other
 * ("not yet"); every other error is thrown at once.
 */
export async function until<T>(fact: () => T | Promise<T>, what: What = String(fact)): Promise<Truthy<T>> {
  return (await askUntil(fact, Boolean, what)) as Truthy<T>
}

/** The same for an answer that has to fit: it is returned, and shown when it never does. */
export async function askUntil<T>(
  ask: () => T | Promise<T>,
  fits: (answer: T) => boolean,
  what: What = String(fits),
): Promise<T> {
  let last: unknown
  let isOver = false
  async function poll(): Promise<T> {
    for (let wait = SOONEST_MS; ; wait = Math.min(wait * 1.1, LATEST_MS)) {
      try {
        const answer = await ask()
        if (isOver || fits(answer)) return answer
        last = answer
      } catch (error) {
        if (isOver || !(error instanceof AssertionError)) throw error
        last = error
      }
      await sleep(wait)
    }
  }
  const described = (): string => `${nameOf(what)}\nseen last: ${inspect(last, { depth: 5 })}`
  return arrival(poll(), described).finally(() => (isOver = true))
}

/** Waits for what comes by itself, an event or an answer, with the same limit. Its error is thrown at once. */
export async function arrival<T>(coming: Promise<T>, what: What): Promise<T> {
  const late = Promise.withResolvers<typeof LATE>()
  const timer = setTimeout(late.resolve, PATIENCE_MS - spentMs(), LATE)
  const first = await Promise.race([coming, late.promise]).finally(() => clearTimeout(timer))
  if (first === LATE) throw new Error(`waited in vain: ${nameOf(what)}`)
  return first
}

/** The exit code of a process that is on its way to its end; one that does not get there is killed. */
export async function exitOf(child: ChildProcess, what: What): Promise<number | null> {
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  return arrival(closed, what).finally(() => child.kill('SIGKILL'))
}

const LATE = Symbol('late')

function nameOf(what: What): string {
  return typeof what === 'string' ? what : what()
}

/** How much of its time the test has had already. */
function spentMs(): number {
  return testBegan === null ? 0 : performance.now() - testBegan
}
