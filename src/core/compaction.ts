import { type Content, textOf } from './content.ts'
import type { EventBody, EventOf } from './event.ts'

/** What a human types to have the conversation summed up. Drivers know it; to agents that cannot it is a message. */
const COMPACT = '/compact'

export function compactMessage(): Content[] {
  return [{ type: 'text', text: COMPACT }]
}

export function isCompaction(input: readonly Content[]): boolean {
  return input.every(({ type }) => type === 'text') && textOf(input).trim() === COMPACT
}

/** The end of a compaction, with a notice for whoever knows only notices. */
export function compacted(fact: EventOf<'agent.compacted'>): EventBody[] {
  const { tokensBefore, tokensAfter, error } = fact
  const known = tokensBefore !== null && tokensAfter !== null
  const numbers = known ? ` (${tokensBefore} tokens, now ${tokensAfter})` : ''
  const notice =
    error === null
      ? ({ level: 'info', code: 'compacted', message: `The conversation was summed up${numbers}` } as const)
      : ({
          level: 'warning',
          code: 'compaction_failed',
          message: `The conversation could not be summed up: ${error}`,
        } as const)
  return [fact, { type: 'agent.notice', ...notice, data: null }]
}
