import type { UpdateCheck, Updates } from '../ports.ts'

const FIRST_MS = 10_000
const DAY_MS = 24 * 60 * 60 * 1000

/** Looks once a day, and tells of each newer version once. Returns how to stop; without a feed there is nothing to do. */
export function watchForUpdates(
  updates: Pick<Updates, 'check'>,
  found: (update: Extract<UpdateCheck, { state: 'available' }>) => void,
  warn: (message: string, error: unknown) => void,
  pace: { firstMs: number; everyMs: number } = { firstMs: FIRST_MS, everyMs: DAY_MS },
): () => void {
  let told: string | null = null
  const look = async (): Promise<void> => {
    const answer = await updates.check()
    if (answer.state === 'failed') warn('looking for updates', answer.message)
    if (answer.state !== 'available' || answer.latest === told) return
    told = answer.latest
    found(answer)
  }
  const start = (): void => void look().catch((error) => warn('looking for updates', error))
  const first = setTimeout(start, pace.firstMs).unref()
  const timer = setInterval(start, pace.everyMs).unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}
