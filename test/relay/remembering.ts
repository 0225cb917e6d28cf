import type { Block, Piece } from '../../src/relay/ask.ts'
import type { ModelCall } from '../../src/relay/providers/provider.ts'
import { createMemory, type Memory } from '../../src/relay/sessions/memory.ts'
import type { Talks } from '../../src/relay/sessions/talks.ts'

/** What named sessions remember, in a directory that is there already. */
export function memoryFor(
  directory: string,
  talks: () => Talks,
  maxWaiting: number,
  now: () => number = Date.now,
): Memory {
  return createMemory({
    directory,
    maxWaiting,
    now,
    kept: (name, known) => talks().knows(name, known),
    onProblem: (problem) => {
      throw new Error(problem)
    },
  })
}

/** All pieces of an answer, which the session remembers if the call names one, as the relay's own server has it. */
export async function remembered(
  memory: Memory,
  call: ModelCall,
  answer: (call: ModelCall) => Promise<AsyncIterable<Piece>> | AsyncIterable<Piece>,
): Promise<Piece[]> {
  const recalled = call.stickyId === null ? null : await memory.recall(call.stickyId, call.ask, call.signal)
  try {
    const pieces: Piece[] = []
    for await (const piece of await answer({ ...call, ask: recalled?.ask ?? call.ask })) pieces.push(piece)
    await recalled?.keep(pieces.filter((piece): piece is Block & Piece => piece.type !== 'end'))
    await recalled?.heard()
    return pieces
  } finally {
    recalled?.leave()
  }
}
