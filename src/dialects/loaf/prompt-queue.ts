import type { QueuedPrompt } from './wire.ts'

/** Messages that wait in the queue, in the order in which they will begin. */
export type PromptQueue = QueuedPrompt[]

/** Returns whether it was in the queue. */
export function unqueue(queue: PromptQueue, id: string): boolean {
  return take(queue, id) !== undefined
}

export function moveTo(queue: PromptQueue, id: string, position: number): void {
  const prompt = take(queue, id)
  if (prompt) queue.splice(position - 1, 0, prompt)
}

/** One that was no message before, but a wish, comes last. */
export function rewrite(queue: PromptQueue, prompt: QueuedPrompt): void {
  const place = queue.findIndex(({ id }) => id === prompt.id)
  queue[place < 0 ? queue.length : place] = prompt
}

function take(queue: PromptQueue, id: string): QueuedPrompt | undefined {
  const place = queue.findIndex((prompt) => prompt.id === id)
  return place < 0 ? undefined : queue.splice(place, 1)[0]
}
