import type { Run } from './run.ts'

/** Requests that wait for their answers, and refusals that wait for their reader, at the most. */
const MAX_WAITING = 64
const MAX_REFUSALS = 1000

interface AnsweringDeps {
  answer: (request: unknown) => Promise<string[]>
  failed: (error: unknown) => void
}

export interface Answering {
  take(request: unknown): void
}

/**
 * What an agent's protocol wants of this side is given one after the other, each when the one before has been taken: an
 * agent that asks and does not read costs one answer's memory. A driver that has no answer costs that answer only.
 */
export function createAnswering(
  run: Pick<Run, 'driver' | 'write' | 'over'>,
  { answer, failed }: AnsweringDeps,
): Answering {
  let last = Promise.resolve()
  let waiting = 0
  let refusals = 0

  async function give(request: unknown): Promise<void> {
    try {
      const lines = run.over ? [] : await answer(request)
      if (!run.over) await run.write(lines)
    } catch (error) {
      failed(error)
    } finally {
      waiting--
    }
  }

  async function refuse(lines: string[]): Promise<void> {
    if (refusals >= MAX_REFUSALS) return
    refusals++
    await run.write(lines).catch(failed)
    refusals--
  }

  return {
    take(request) {
      const refusal = waiting < MAX_WAITING ? [] : (run.driver.decline?.(request) ?? [])
      if (refusal.length > 0) return void refuse(refusal)
      waiting++
      if (run.driver.waits?.(request)) void give(request)
      else last = last.then(() => give(request))
    },
  }
}
