import type { Decision } from '../../src/core/approval.ts'
import { textOf } from '../../src/core/content.ts'
import { emptyConversation, step } from '../../src/core/conversation/conversation.ts'
import type { CallState, Change } from '../../src/core/conversation/item.ts'
import type { Event } from '../../src/core/event.ts'
import type { TurnView } from '../../src/dialects/native/wire.ts'
import type { Outcome } from '../../src/core/turn.ts'

/** What every protocol tells of a session, each in its own words, put into one form. */
export type Told =
  | { what: 'user'; text: string }
  /** It stands where it is complete. */
  | { what: 'answer'; text: string; aborted: boolean; helper?: boolean }
  /** It stands where it is first told; the state is its last one. */
  | { what: 'call'; tool: string; state: CallState }
  /** A human was asked: what came of it. */
  | { what: 'decision'; behavior: Decision['behavior'] }
  /** `stopped`: somebody had asked for an end before, whether or not the agent was faster. */
  | { what: 'end'; outcome: Outcome; stopped?: boolean }

/** Collects what is told of one session. */
export interface Teller {
  readonly told: Told[]
  add(told: Told): void
  /** A call, by its id: the first time it takes its place, from then on it only changes. */
  call(id: string, change: { tool?: string; state?: CallState }): void
}

export function createTeller(): Teller {
  const told: Told[] = []
  const calls = new Map<string, number>()
  return {
    told,
    add: (one) => void told.push(one),
    call(id, { tool, state }) {
      const at = calls.get(id)
      const known = at === undefined ? null : (told[at] as Told & { what: 'call' })
      if (at === undefined) calls.set(id, told.length)
      told[at ?? told.length] = {
        what: 'call',
        tool: tool ?? known?.tool ?? '',
        state: state ?? known?.state ?? 'running',
      }
    },
  }
}

/** The fold over the log: what all must agree with. `turns`: whose messages retention may have removed from the log. */
export function toldBy(
  events: Iterable<Event>,
  turns: readonly TurnView[] = [],
  isTold: (change: Change, event: Event) => boolean = () => true,
): Told[] {
  const teller = createTeller()
  const conversation = emptyConversation()
  for (const { id, input: content, key, origin, queuedAt: sentAt } of turns) {
    conversation.waiting.set(id, { id, content, key, origin, steer: false, sentAt })
  }
  // Retention may have removed the beginning of the turn, and left the wish to stop it.
  const stopping = new Set<string>()
  for (const event of events) {
    if (event.type === 'turn.interrupting') stopping.add(event.turnId)
    const stopped = event.turnId != null && stopping.has(event.turnId)
    for (const change of step(conversation, event)) if (isTold(change, event)) tell(teller, change, stopped)
  }
  return teller.told
}

function tell(teller: Teller, change: Change, stopped: boolean): void {
  switch (change.type) {
    case 'said':
      return teller.add({ what: 'user', text: textOf([...change.message.content]) })
    case 'closed': {
      const { kind, text, aborted, parent } = change.message
      if (kind === 'text') teller.add({ what: 'answer', text, aborted, helper: parent !== null })
      return
    }
    case 'call': {
      const { id, tool, state } = change.call
      return teller.call(id, { tool, state })
    }
    case 'decided': {
      const { asked, decision } = change.verdict
      if (asked) teller.add({ what: 'decision', behavior: decision.behavior })
      return
    }
    case 'ended':
      return teller.add({ what: 'end', outcome: change.end.outcome, stopped })
    default:
  }
}

/** What a protocol has no words for; each view says so of itself. */
export interface Silence {
  /** It tells none of these. */
  never?: readonly Told['what'][]
  /** Nor calls of these tools. */
  tools?: readonly string[]
  /** It does not tell what sub-agents say: their calls only, and what comes of the call that runs them. */
  helpers?: true
  /** Answers that follow each other are one. */
  joined?: true
  /** It tells turns that were begun through it, and not what they began with. */
  ours?: true
  /** It does not tell an answer that was cut off from one that is whole. */
  aborted?: true
  /** States that it has one word for: by the word that stands for them. */
  states?: Partial<Record<CallState, CallState>>
  /** A turn that somebody wanted to stop was interrupted, also when the agent was faster. */
  stopped?: true
}

/** As a view with these limits would tell it. */
export function through(silence: Silence, told: readonly Told[]): string[] {
  const { never = [], tools = [], aborted, helpers, joined, states = {}, stopped } = silence
  const isHelper = (one: Told): boolean => one.what === 'answer' && one.helper === true
  const shown = told.filter((one) => !never.includes(one.what) && !(helpers && isHelper(one)))
  return (joined ? withJoined(shown) : shown).flatMap((one) => {
    switch (one.what) {
      case 'user':
        // Retention has removed what was said.
        return one.text === '' ? [] : [`user: ${one.text}`]
      case 'answer':
        return [`answer: ${one.text}${one.aborted && !aborted ? ' (cut off)' : ''}`]
      case 'call':
        // Retention has removed its beginning: a result without a call is told by some and not by others.
        if (one.tool === '' || tools.includes(one.tool)) return []
        return [`call: ${one.tool} ${states[one.state] ?? one.state}`]
      case 'decision':
        return [`decision: ${one.behavior}`]
      case 'end':
        return [`end: ${stopped && one.stopped ? 'interrupted' : one.outcome}`]
    }
  })
}

function withJoined(told: readonly Told[]): Told[] {
  const joined: Told[] = []
  for (const one of told) {
    const before = joined.at(-1)
    if (one.what === 'answer' && before?.what === 'answer') {
      joined[joined.length - 1] = { ...one, text: before.text + one.text }
    } else joined.push(one)
  }
  return joined
}
