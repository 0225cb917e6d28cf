import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { RelayFailure } from '../failure.ts'
import {
  capExceeded,
  type License,
  licenseInvalid,
  type LicensePolicy,
  type LicenseView,
  type Reservation,
} from './license.ts'
import { replaceFile } from '../private-file.ts'
import type { UsageCount } from './usage-count.ts'

export interface LicenseWishes {
  licenseKey: string | null
  licenseUrl: string | null
  dashboardUrl: string | null
  topUpUrl: string | null
}

export interface RemoteLicenseOptions {
  /** Read for each call: a new key holds at once. */
  wishes(): LicenseWishes
  usage: UsageCount
  /** What was last known, for the next start. */
  path: string
  now: () => number
  /** Told after each answer, and each try to get one. */
  onRefreshed?(view: LicenseView): void
  onProblem?(problem: string): void
  everyMs?: number
  timeoutMs?: number
}

const EVERY_MS = 5 * 60_000
const TIMEOUT_MS = 10_000
/** How long a good answer holds while nobody can be asked. */
const TRUST_MS = 7 * 24 * 60 * 60_000
/** After the cap somebody may have paid: asked again, but not for every call. */
const ASK_AGAIN_MS = 15_000
const MAX_ANSWER_BYTES = 64 * 1024

const answerSchema = z.object({
  valid: z.boolean(),
  tier: z.string().max(100).default('unknown'),
  features: z.array(z.string().max(100)).max(100).default([]),
  usageThisMonth: z.int().min(0).default(0),
  usageCap: z.int().min(0).nullable().default(null),
  lastCapChange: z.number().default(0),
  topUpGrants: z.number().default(0),
})
type Validation = z.output<typeof answerSchema>

/** What somebody said about one key. */
const knownSchema = z.object({ keyHash: z.string(), answer: answerSchema, at: z.number() })
type Known = z.output<typeof knownSchema>

const INVALID: Validation = answerSchema.parse({ valid: false, tier: 'none' })

/** What has been asked about the license, and what came of it. */
interface State extends RemoteLicenseOptions {
  known: Known | null
  askedAt: number
  /** The hash of the key that was asked about last. */
  askedAbout: string | null
  asking: { about: string; answer: Promise<void> } | null
  /** Calls under way that are not counted yet. */
  reserved: number
}

/** A license that somebody elsewhere vouches for, at the address in the settings and nowhere else. */
export function remoteLicense(options: RemoteLicenseOptions): LicensePolicy {
  const known = readKnown(options.path)
  const state: State = { ...options, known, askedAt: 0, askedAbout: null, asking: null, reserved: 0 }
  const timer = setInterval(() => void refresh(state), options.everyMs ?? EVERY_MS).unref()
  void refresh(state)
  return {
    view: () => viewOf(state),
    refresh: () => refresh(state),
    admit: () => admit(state),
    close: () => clearInterval(timer),
  }
}

/** The address, too: an answer of somebody else is none. */
function keyHash({ wishes }: State): string | null {
  const { licenseKey, licenseUrl } = wishes()
  return licenseKey === null ? null : hash(`${licenseUrl}\n${licenseKey}`)
}

function trusted(state: State): Validation | null {
  const { known, now } = state
  const holds = known !== null && known.keyHash === keyHash(state) && now() - known.at < TRUST_MS
  return holds ? known.answer : null
}

function viewOf(state: State): LicenseView {
  const { usageThisMonth: _, ...answer } = trusted(state) ?? INVALID
  const used = state.usage.used()
  const exceeded = answer.usageCap !== null && used >= answer.usageCap
  const license: License = { ...answer, usageThisMonth: used, capExceeded: exceeded }
  const refreshedAt = state.askedAt || (state.known?.at ?? 0)
  return { configured: state.wishes().licenseKey !== null, license, refreshedAt }
}

async function ask(state: State, about: string): Promise<void> {
  const { usage, now, timeoutMs = TIMEOUT_MS } = state
  const { licenseUrl, licenseKey } = state.wishes()
  try {
    const answer = await validate(licenseUrl!, licenseKey!, timeoutMs)
    if (keyHash(state) !== about) return
    state.known = { keyHash: about, answer, at: now() }
    replaceFile(state.path, JSON.stringify(state.known))
    await usage.atLeast(answer.usageThisMonth)
  } catch (error) {
    state.onProblem?.(`The license could not be checked: ${(error as Error).message}`)
  } finally {
    state.askedAt = now()
    state.askedAbout = about
  }
  state.onRefreshed?.(viewOf(state))
}

/** Asks, unless somebody does already. */
async function refresh(state: State): Promise<LicenseView> {
  const about = keyHash(state)
  if (about !== null && state.wishes().licenseUrl !== null) {
    if (state.asking?.about !== about) {
      const answer = ask(state, about).finally(() => {
        if (state.asking?.answer === answer) state.asking = null
      })
      state.asking = { about, answer }
    }
    await state.asking.answer
  }
  return viewOf(state)
}

/** With nothing to go by calls wait for an answer, but not one after the other for somebody who gives none. */
async function settle(state: State): Promise<void> {
  const justAsked = state.askedAbout === keyHash(state) && state.now() - state.askedAt < ASK_AGAIN_MS
  if (!trusted(state) && !justAsked) await refresh(state)
}

async function admit(state: State): Promise<Reservation> {
  const { licenseKey, licenseUrl, dashboardUrl, topUpUrl } = state.wishes()
  const origin = licenseUrl === null ? '' : new URL(licenseUrl).origin
  if (licenseKey === null) throw licenseInvalid(dashboardUrl ?? origin)
  await settle(state)
  const { valid, tier, usageCap: cap } = trusted(state) ?? INVALID
  const used = state.usage.used() + state.reserved + 1
  const refused = !valid || (cap !== null && used > cap)
  if (refused && state.now() - state.askedAt > ASK_AGAIN_MS) void refresh(state)
  if (!valid) throw licenseInvalid(dashboardUrl ?? origin)
  if (cap !== null && used > cap) throw capExceeded({ tier, used, cap, topUpUrl: topUpUrl ?? origin })
  return reserve(state)
}

function reserve(state: State): Reservation {
  let open = true
  state.reserved += 1
  const leave = (): boolean => {
    if (!open) return false
    open = false
    state.reserved -= 1
    return true
  }
  return {
    async count() {
      if (!leave()) return
      await state.usage.add().catch((cause: unknown) => {
        throw new RelayFailure(503, 'api_error', 'The call cannot be counted', { cause })
      })
    },
    free: () => void leave(),
  }
}

/** Throws when there is no answer to rely on. */
async function validate(url: string, licenseKey: string, timeoutMs: number): Promise<Validation> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ licenseKey }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw new Error(`${new URL(url).host} cannot be reached`, { cause: error })
  })
  if ([401, 402, 403, 404].includes(response.status)) {
    await response.body?.cancel()
    return INVALID
  }
  const text = await limited(response)
  if (!response.ok) throw new Error(`${new URL(url).host} answers with status ${response.status}`)
  const answer = answerSchema.safeParse(licenseIn(text))
  if (!answer.success) throw new Error(`${new URL(url).host} answers with something that is no license`)
  return answer.data
}

/** As itself, or as in `GET /v1/license`. */
function licenseIn(text: string): unknown {
  try {
    const json = JSON.parse(text) as { license?: unknown } | null
    return json?.license ?? json
  } catch {
    return null
  }
}

async function limited(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Anything that is not as it should be is as good as nothing: somebody is asked then. */
function readKnown(path: string): Known | null {
  try {
    return knownSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
