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

export interface Prompts {
  /** Resolves when its turn is over, which may first wait for those of others. */
  prompt(content: Content[], signal: AbortSignal): Promise<PromptResponse>
  /** A message with this key has become this turn. */
  queued(key: string | null, turnId: string): void
  has(turnId: string): boolean
  ended(turnId: string, ending: Ending): void
  /** Looks for endings that were not told. */
  recheck(): void
  /** False when there is nothing of ours to cancel. */
  cancelAll(): Promise<boolean>
  fail(error: unknown): void
  leave(): void
}

/** The prompts of a session that wait for the end of their turns. */
export function createPrompts(parts: { corral: Corral; sessionId: string; newKey(): string }): Prompts {
  const { corral, sessionId } = parts
  const open = new Map<string, Prompt>()

  function fail(key: string, prompt: Prompt, error: unknown): void {
    open.delete(key)
    prompt.done.reject(error)
  }

  function find(turnId: string): [string, Prompt] | undefined {
    return [...open].find(([, prompt]) => prompt.turnId === turnId)
  }

  function ended(turnId: string, ending: Ending): void {
    const [key, prompt] = find(turnId) ?? []
    if (key === undefined || !prompt) return
    open.delete(key)
    const result = promptResult(ending)
    if (result instanceof Error) prompt.done.reject(result)
    else prompt.done.resolve(result)
  }

  async function look(key: string, prompt: Prompt, turnId: string): Promise<void> {
    try {
      const { state, usage, error } = await corral.turn(turnId)
      if (state !== 'queued' && state !== 'running') ended(turnId, { state, usage, error })
    } catch (error) {
      fail(key, prompt, error)
    }
  }

  async function cancel(prompt: Prompt): Promise<void> {
    const turnId = await prompt.sent.catch(() => null)
    if (turnId !== null) await corral.interrupt(sessionId, turnId)
  }

  return {
    async prompt(content, signal) {
      const key = parts.newKey()
      const sent = corral.send(sessionId, content, key)
      const prompt: Prompt = { turnId: null, sent, done: Promise.withResolvers() }
      open.set(key, prompt)
      sent.then(
        (turnId) => (prompt.turnId ??= turnId),
        (error: unknown) => fail(key, prompt, error),
      )
      const stop = (): void => void (isCancelled(signal.reason) && cancel(prompt).catch(() => {}))
      signal.addEventListener('abort', stop)
      return prompt.done.promise.finally(() => signal.removeEventListener('abort', stop))
    },
    queued(key, turnId) {
      const prompt = key === null ? undefined : open.get(key)
      if (prompt) prompt.turnId = turnId
    },
    has: (turnId) => find(turnId) !== undefined,
    ended,
    recheck() {
      for (const [key, prompt] of open) if (prompt.turnId !== null) void look(key, prompt, prompt.turnId)
    },
    async cancelAll() {
      const ours = [...open.values()]
      await Promise.all(ours.map(cancel))
      return ours.length > 0
    },
    fail(error) {
      for (const [key, prompt] of open) fail(key, prompt, error)
    },
    leave() {
      for (const { done } of open.values()) done.resolve({ stopReason: 'cancelled' })
      open.clear()
    },
  }
}
