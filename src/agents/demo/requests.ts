import type { Output } from './output.ts'
import type { DemoDecision, DemoOutput, DemoResult } from './protocol.ts'

/** Requests to the user and the client that wait for their answers. */
export class Requests {
  readonly #output: Output
  readonly #waiting = new Map<string, (answer: DemoDecision | DemoResult) => void>()

  constructor(output: Output) {
    this.#output = output
  }

  /** Withdrawn, and rejected, when `over` aborts. */
  async ask<T extends DemoDecision | DemoResult>(
    request: Extract<DemoOutput, { type: 'ask' | 'call' }>,
    over: AbortSignal,
  ): Promise<T> {
    const { requestId } = request
    const answered = new Promise<T>((resolve) => this.#waiting.set(requestId, (it) => resolve(it as T)))
    this.#output.emit(request)
    try {
      return await Promise.race([answered, aborted(over)])
    } catch (error) {
      this.#output.emit({ type: 'withdraw', requestId })
      throw error
    } finally {
      this.#waiting.delete(requestId)
    }
  }

  answer(answer: DemoDecision | DemoResult): void {
    const waiting = this.#waiting.get(answer.requestId)
    this.#waiting.delete(answer.requestId)
    waiting?.(answer)
  }
}

/** Rejects when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}
