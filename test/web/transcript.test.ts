import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { copyOf, emptyConversation, step } from '../../src/core/conversation/conversation.ts'
import { partsOf, type ConversationParts } from '../../src/core/conversation/parts.ts'
import { joinedPieces, slim, slimParts } from '../../src/core/conversation/slim.ts'
import type { Event, EventBody } from '../../src/core/event.ts'
import { advance, openTranscript, prepend, visibleRows, type Transcript } from '../../web/state/transcript.ts'
import { randomly } from '../support/random.ts'
import { inventedEvents } from './invented.ts'

const EMPTY = partsOf(emptyConversation())

/** What a person sees of it, and what every row knows. */
function seen(transcript: Transcript) {
  const order = visibleRows(transcript, () => true)
  return order.map(({ id, depth }) => ({ depth, ...transcript.rows.get(id)! }))
}

function folded(events: readonly Event[], under: ConversationParts = EMPTY): Transcript {
  return openTranscript({ under, events, queue: [], plan: null })
}

/** What the log has left of these events: pieces of complete messages are gone. */
function kept(events: readonly Event[]): Event[] {
  const complete = new Set(
    events.flatMap((event) => (event.type === 'message.completed' ? event.messageId : [])),
  )
  return events.filter((event) => event.type !== 'message.delta' || !complete.has(event.messageId))
}

/** As the daemon tells it; `all` says which questions are open by now. */
function told(events: readonly Event[], all: readonly Event[]): Event[] {
  const over = new Set(all.flatMap((event) => (event.type === 'approval.resolved' ? event.approvalId : [])))
  return joinedPieces(events).map((event) => slim(event, (id) => !over.has(id)))
}

/** What was under way before each event, by the log as it is at the end. */
function underways(events: readonly Event[]): ConversationParts[] {
  const conversation = emptyConversation()
  return events.map((event) => {
    const under = slimParts(partsOf(copyOf(conversation)))
    step(conversation, event)
    return JSON.parse(JSON.stringify(under)) as ConversationParts
  })
}

function live(events: readonly Event[]): Transcript {
  const transcript = folded([])
  for (const event of events) advance(transcript, event)
  return transcript
}

describe('rows of a conversation', () => {
  test('what was seen live is what a reload shows, at any moment', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const events = inventedEvents(randomly(seed), 120)
      for (let moment = 1; moment <= events.length; moment += 7) {
        const past = events.slice(0, moment)
        assert.deepEqual(
          seen(folded(told(kept(past), past))),
          seen(live(past)),
          `seed ${seed}, moment ${moment}`,
        )
      }
    }
  })

  test('a transcript that begins anywhere, with the rest put in front, is the whole one', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const events = kept(inventedEvents(randomly(seed), 150))
      const whole = seen(folded(events))
      const under = underways(events)
      for (let cut = 1; cut < events.length; cut += 3) {
        const transcript = folded(told(events.slice(cut), events), under[cut])
        prepend(transcript, {
          under: EMPTY,
          events: told(completeOnly(events.slice(0, cut)), events),
          queue: [],
          plan: null,
        })
        assert.deepEqual(seen(transcript), whole, `seed ${seed}, cut at ${cut}`)
      }
    }
  })

  test('so it is when it is read in many small parts', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const events = kept(inventedEvents(randomly(seed), 150))
      const under = underways(events)
      const random = randomly(seed + 1000)
      let end = Math.max(1, events.length - 1 - random(30))
      const transcript = folded(told(events.slice(end), events), under[end])
      while (end > 0) {
        const from = Math.max(0, end - 1 - random(12))
        const page = told(completeOnly(events.slice(from, end)), events)
        prepend(transcript, { under: under[from]!, events: page, queue: [], plan: null })
        end = from
      }
      assert.deepEqual(seen(transcript), seen(folded(events)), `seed ${seed}`)
    }
  })
})

test('how long a call has run is told from the answer on, not from the question', () => {
  const about = {
    requestId: 'r',
    kind: 'tool',
    tool: 'shell',
    input: {},
    edits: false,
    summary: null,
  } as const
  const approval = { ...about, id: 'a', callId: 'c', suggestions: null, parent: null }
  const bodies: EventBody[] = [
    { type: 'turn.started', turnId: 't' },
    { type: 'tool.started', callId: 'c', tool: 'shell', input: {}, parent: null },
    { type: 'approval.requested', turnId: 't', approval, open: true, external: false, timeoutAt: null },
    { type: 'approval.resolved', approvalId: 'a', decision: { behavior: 'allow' }, by: 'me', asked: true },
    { type: 'tool.completed', callId: 'c', output: '', isError: false, parent: null, cut: 0 },
  ]
  const times = [0, 1000, 2000, 60_000, 61_000]
  const events = bodies.map((body, index): Event => {
    return { ...body, turnId: 't', seq: index + 1, at: times[index]!, sessionId: 's' }
  })
  const row = seen(live(events)).find(({ kind }) => kind === 'call')
  assert.ok(row?.kind === 'call' && row.endedAt !== null)
  assert.equal(row.endedAt - row.since, 1000)
})

/** Older parts are read without pieces. */
function completeOnly(events: readonly Event[]): Event[] {
  return events.filter((event) => event.type !== 'message.delta')
}
