import type { Past, PastMessage } from './adoption.ts'
import type { EventBody } from './event.ts'
import { NO_USAGE } from './usage.ts'

/*
 * What was said before Corral had a conversation, as events: turns that are over. They have the time at which they were said, and no
 * agent is told any of them.
 */

/** So many turns of a conversation are taken over, the newest. */
export const MAX_TURNS = 200
/** Characters of all of them. */
const MAX_CHARS = 4_000_000
const MAX_MESSAGE = 200_000
/** Of a turn that has more than that. */
const MAX_ANSWERS = 10

interface PastTurn {
  said: PastMessage
  answers: PastMessage[]
}

export interface PastEvents {
  events: EventBody[]
  turns: number
  /** Earlier turns were left out. */
  isCut: boolean
}

/** `otherwise`: the time of what has none. */
export function pastEvents(past: Past, newId: () => string, otherwise: number): PastEvents {
  const all = turnsOf(past.messages)
  const kept = newest(all)
  return {
    events: kept.flatMap((turn) => eventsOf(turn, newId(), otherwise)),
    turns: kept.length,
    isCut: past.isCut || kept.length < all.length || !kept.every((turn) => all.includes(turn)),
  }
}

/** A message of the user's and all answers to it; an answer to what is not known belongs to nothing. */
function turnsOf(messages: readonly PastMessage[]): PastTurn[] {
  const turns: PastTurn[] = []
  for (const message of messages) {
    if (message.text.trim() === '') continue
    if (message.by === 'user') turns.push({ said: shortened(message), answers: [] })
    else turns.at(-1)?.answers.push(shortened(message))
  }
  return turns
}

function newest(turns: readonly PastTurn[]): PastTurn[] {
  let chars = 0
  const isWithin = ({ said, answers }: PastTurn): boolean => {
    chars += [said, ...answers].reduce((sum, { text }) => sum + text.length, 0)
    return chars <= MAX_CHARS
  }
  const last = turns.slice(-MAX_TURNS).toReversed()
  const end = last.findIndex((turn) => !isWithin(turn))
  // One that is too much by itself is there with its last answers.
  if (end === 0) return [{ ...last[0]!, answers: last[0]!.answers.slice(-MAX_ANSWERS) }]
  return (end < 0 ? last : last.slice(0, end)).toReversed()
}

function eventsOf({ said, answers }: PastTurn, turnId: string, otherwise: number): EventBody[] {
  const begun = said.at ?? otherwise
  const ended = answers.at(-1)?.at ?? begun
  const last = answers.at(-1)?.text ?? null
  return [
    {
      type: 'turn.queued',
      turnId,
      input: [{ type: 'text', text: said.text }],
      key: null,
      origin: 'terminal',
      position: 0,
      pastAt: begun,
    },
    { type: 'turn.started', turnId, pastAt: begun },
    ...answers.map(({ text, at }, index): EventBody => ({
      type: 'message.completed',
      messageId: `past-${index}`,
      kind: 'text',
      text,
      parent: null,
      aborted: false,
      pastAt: at ?? begun,
    })),
    last === null
      ? { type: 'turn.interrupted', turnId, usage: NO_USAGE, pastAt: ended }
      : { type: 'turn.completed', turnId, usage: NO_USAGE, text: last, pastAt: ended },
  ]
}

function shortened(message: PastMessage): PastMessage {
  const text = message.text.toWellFormed()
  return text.length > MAX_MESSAGE
    ? { ...message, text: `${text.slice(0, MAX_MESSAGE).toWellFormed()}… (cut)` }
    : { ...message, text }
}
