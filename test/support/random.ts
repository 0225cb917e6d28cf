import { LoggedEvent } from '../../src/core/event.ts'

/** Whole numbers below a bound: the same ones for the same seed. */
export function randomly(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** An event or a delta; most are small, and some are up to this long. */
export function randomEvent(
  random: (below: number) => number,
  seq: number,
  sessionId: string,
  longest: number,
): LoggedEvent {
  const text = 'é'.repeat(random(random(4) === 0 ? longest : 50))
  const common = { seq, at: seq, sessionId }
  return random(2) === 0
    ? LoggedEvent.of({
        ...common,
        type: 'message.delta',
        messageId: 'm',
        kind: 'text',
        text,
        parent: null,
      })
    : LoggedEvent.of({
        ...common,
        type: 'agent.notice',
        level: 'info',
        code: 'x',
        message: text,
        data: null,
      })
}
