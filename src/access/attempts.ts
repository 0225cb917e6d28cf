/** How often somebody may be wrong, by address. */
export interface Attempts {
  /** How long an address has to wait before its next try, in milliseconds; 0: not at all. */
  waitMs(address: string): number
  wrong(address: string): void
}

const MAX_WRONG = 10
const WITHIN_MS = 60_000
/** Beyond that, those who were wrong longest ago are forgotten. */
const MAX_ADDRESSES = 1000

export function createAttempts({ now }: { now(): number }): Attempts {
  const wrong = new Map<string, number[]>()
  const recent = (address: string): number[] =>
    (wrong.get(address) ?? []).filter((at) => at + WITHIN_MS > now())
  return {
    waitMs(address) {
      const times = recent(address)
      return times.length < MAX_WRONG ? 0 : times[0]! + WITHIN_MS - now()
    },
    wrong(address) {
      const times = [...recent(address), now()].slice(-MAX_WRONG)
      wrong.delete(address)
      wrong.set(address, times)
      const [oldest] = wrong.keys()
      if (wrong.size > MAX_ADDRESSES) wrong.delete(oldest!)
    },
  }
}
