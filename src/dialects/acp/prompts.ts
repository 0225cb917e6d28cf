import type { PromptResponse } from '@agentclientprotocol/sdk/unstable'
import type { Content } from '../../core/content.ts'
import { isCancelled } from './errors.ts'
import type { Corral } from './port.ts'
import { promptResult, type Ending } from './updates.ts'

interface Prompt {
  turnId: string | null
  /** The turn that it became. */
  sent: Promise<string>
  done: PromiseWithResolvers<PromptResponse>
}

export interface PromptsParts {
  corral: Corral
  sessionId: string
  newKey(): string
}

/** The prompts of a session that wait for the end of their turns. */
export class Prompts {
  readonly #parts: PromptsParts
  /** By the keys of their messages. */
  readonly #open = new Map<string, Prompt>()

  constructor(parts: PromptsParts) {
    this.#parts = parts
  }

  /** Resolves when its turn is over, which may first wait for those of others. */
  async prompt(content: Content[], signal: AbortSignal): Promise<PromptResponse> {
    const { corral, sessionId, newKey } = this.#parts
    const key = newKey()
    const sent = corral.send(sessionId, content, key)
    const prompt: Prompt = { turnId: null, sent, done: Promise.withResolvers() }
    this.#open.set(key, prompt)
    sent.then(
      (turnId) => (prompt.turnId ??= turnId),
      (error: unknown) => this.#fail(key, prompt, error),
    )
    const stop = (): void => void (isCancelled(signal.reason) && this.#cancel(prompt).catch(() => {}))
    signal.addEventListener('abort', stop)
    return prompt.done.promise.finally(() => signal.removeEventListener('abort', stop))
  }

  /** A message with this key has become this turn. */
  queued(key: string | null, turnId: string): void {
    const prompt = key === null ? undefined : this.#open.get(key)
    if (prompt) prompt.turnId = turnId
  }

  has(turnId: string): boolean {
    return this.#of(turnId).length > 0
  }

  /** Somebody has brought a message that waited to the turn that runs: it ends with that one. */
  joined(messageId: string, turnId: string): void {
    for (const [, prompt] of this.#of(messageId)) prompt.turnId = turnId
  }

  ended(turnId: string, ending: Ending): void {
    const result = promptResult(ending)
    for (const [key, { done }] of this.#of(turnId)) {
      this.#open.delete(key)
      if (result instanceof Error) done.reject(result)
      else done.resolve(result)
    }
  }

  /** Looks for endings that were not told. */
  recheck(): void {
    for (const [key, prompt] of this.#open) {
      if (prompt.turnId !== null) void this.#look(key, prompt, prompt.turnId)
    }
  }

  /** False when there is nothing of ours to cancel. */
  async cancelAll(): Promise<boolean> {
    const ours = [...this.#open.values()]
    await Promise.all(ours.map((prompt) => this.#cancel(prompt)))
    return ours.length > 0
  }

  fail(error: unknown): void {
    for (const [key, prompt] of this.#open) this.#fail(key, prompt, error)
  }

  leave(): void {
    for (const { done } of this.#open.values()) done.resolve({ stopReason: 'cancelled' })
    this.#open.clear()
  }

  #of(turnId: string): [string, Prompt][] {
    return [...this.#open].filter(([, prompt]) => prompt.turnId === turnId)
  }

  #fail(key: string, prompt: Prompt, error: unknown): void {
    this.#open.delete(key)
    prompt.done.reject(error)
  }

  async #look(key: string, prompt: Prompt, turnId: string): Promise<void> {
    try {
      const { state, usage, error } = await this.#parts.corral.turn(turnId)
      if (state !== 'queued' && state !== 'running') this.ended(turnId, { state, usage, error })
    } catch (error) {
      this.#fail(key, prompt, error)
    }
  }

  async #cancel(prompt: Prompt): Promise<void> {
    const turnId = await prompt.sent.catch(() => null)
    if (turnId !== null) await this.#parts.corral.interrupt(this.#parts.sessionId, turnId)
  }
}
