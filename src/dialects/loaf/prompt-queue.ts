import type { QueuedPrompt } from './messages.ts'

/** Messages that have not begun: those that wait in the queue, and the one that is about to. */
export function createPromptQueue() {
  const queue: QueuedPrompt[] = []
  let next: QueuedPrompt | null = null

  function remove(id: string): QueuedPrompt | null {
    const place = queue.findIndex((prompt) => prompt.id === id)
    return place < 0 ? null : queue.splice(place, 1)[0]!
  }

  return {
    queue,
    starts: (prompt: QueuedPrompt): void => void (next = prompt),
    waits: (prompt: QueuedPrompt): void => void queue.push(prompt),
    waitsFirst: (prompt: QueuedPrompt): void => void queue.unshift(prompt),
    /** It begins; null when nothing is known of it. */
    take(id: string): { prompt: QueuedPrompt; waited: boolean } | null {
      const waiting = remove(id)
      const prompt = waiting ?? (next?.id === id ? next : null)
      next = null
      return prompt && { prompt, waited: waiting !== null }
    },
    remove,
    move(id: string, position: number): void {
      const prompt = remove(id)
      if (prompt) queue.splice(position - 1, 0, prompt)
    },
  }
}
