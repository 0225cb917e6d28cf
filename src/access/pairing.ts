import { randomInt, timingSafeEqual } from 'node:crypto'

export type PinVerdict = 'ok' | 'wrong' | 'expired' | 'locked'

export interface Pin {
  pin: string
  expiresAt: number
}

/** PINs that let a device in. They are in memory only: a daemon that starts again has none. */
export interface Pairing<Grant> {
  /** A new one, for whoever sits in front of the host; `grant` is what the device gets for it. */
  issue(grant: Grant): Pin
  /** Uses one up. `undo` gives it back: what it was used for did not come about. */
  redeem(pin: string): { verdict: Exclude<PinVerdict, 'ok'> } | { verdict: 'ok'; grant: Grant; undo(): void }
  /** Those with such a grant are worth nothing any more. */
  withdraw(isUnwanted: (grant: Grant) => boolean): void
}

export interface PairingOptions {
  now(): number
  ttlMs: number
}

/** At most so many PINs hold at a time: the oldest makes room. */
const MAX_LIVE = 3
/** Wrong tries in all, whoever makes them; then every PIN is void until the host makes a new one. */
const MAX_WRONG = 5
/** So long it is said of a PIN that it is too old, and not that it is wrong. */
const REMEMBERED_MS = 60 * 60 * 1000

interface Issued<Grant> extends Pin {
  grant: Grant
}

export function createPairing<Grant>({ now, ttlMs }: PairingOptions): Pairing<Grant> {
  let issued: Issued<Grant>[] = []
  let wrong = 0

  const isLive = ({ expiresAt }: Pin): boolean => expiresAt > now()

  function forgetOld(): void {
    issued = issued.filter(({ expiresAt }) => expiresAt + REMEMBERED_MS > now())
  }

  function fresh(): string {
    for (;;) {
      const pin = String(randomInt(100_000, 1_000_000))
      if (!issued.some((known) => known.pin === pin)) return pin
    }
  }

  return {
    issue(grant) {
      forgetOld()
      // Tries are counted for as long as there is a PIN to be guessed.
      if (wrong >= MAX_WRONG || !issued.some(isLive)) wrong = 0
      const live = issued.filter(isLive)
      if (live.length >= MAX_LIVE) issued.splice(issued.indexOf(live[0]!), 1)
      const pin = { pin: fresh(), expiresAt: now() + ttlMs, grant }
      issued.push(pin)
      return { pin: pin.pin, expiresAt: pin.expiresAt }
    },
    redeem(given) {
      if (wrong >= MAX_WRONG) return { verdict: 'locked' }
      forgetOld()
      let found: Issued<Grant> | undefined
      for (const known of issued) if (same(known.pin, given)) found = known
      if (found && !isLive(found)) return { verdict: 'expired' }
      if (!found) {
        wrong++
        if (wrong < MAX_WRONG) return { verdict: 'wrong' }
        issued = []
        return { verdict: 'locked' }
      }
      const used = found
      issued.splice(issued.indexOf(used), 1)
      return { verdict: 'ok', grant: used.grant, undo: () => void issued.push(used) }
    },
    withdraw(isUnwanted) {
      issued = issued.filter(({ grant }) => !isUnwanted(grant))
    },
  }
}

/** Takes as long for a near miss as for any other. */
function same(pin: string, given: string): boolean {
  const [a, b] = [Buffer.from(pin), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
