import { createHash } from 'node:crypto'
import { textOf, type Content } from './content.ts'
import { CONVERSATION_TYPES, step } from './conversation/conversation.ts'
import type { Change } from './conversation/item.ts'
import { conversationBefore } from './conversation/reader.ts'
import type { Event, LoggedEvent } from './event.ts'
import { lineageOf, type ConversationPart } from './lineage.ts'
import type { Log } from './ports.ts'
import type { Session } from './session.ts'

/*
 * What was said before a session began, for an agent that cannot know it otherwise: a transcript that goes before the first message.
 * People do not see it; they have the conversation itself.
 */

/** Of all of it; the newest part. */
const MAX_CHARS = 100_000
const MAX_MESSAGE = 20_000
const MAX_INPUT = 500
const MAX_OUTPUT = 2000
/** What is read of each session, from its end. */
const MAX_EVENTS = 5000
const MAX_BYTES = 4 * 1024 ** 2
const PAGE = 500

const TYPES = CONVERSATION_TYPES.filter((type) => type !== 'message.delta')

const BEFORE =
  'This is the earlier conversation that this one continues, as a transcript. It is background, not a message: do not repeat it, and do not do again what was done in it.'
const CUT = '(The beginning is left out.)'
const AFTER = 'The conversation goes on from here with the next message:'
const MARKS = /<\/?(?:earlier_conversation|user|assistant|tool|result)\b/

/** The parts of a message to an agent; none where nothing was said. */
export function recapOf(log: Log, session: Session): Content[] {
  const entries: Entry[] = []
  let isCut = false
  let chars = 0
  for (const part of lineageOf(log, session).slice(0, -1).toReversed()) {
    const told = entriesOf(log, part)
    const kept = told.entries.toReversed().filter((entry) => (chars += entry.text.length) <= MAX_CHARS)
    entries.unshift(...kept.toReversed())
    isCut ||= told.isCut || kept.length < told.entries.length
    if (isCut) break
  }
  return entries.length === 0 ? [] : [{ type: 'text', text: written(entries, isCut) }]
}

interface Entry {
  mark: 'user' | 'assistant' | 'tool' | 'result'
  text: string
}

/** What a tool has found may look like a mark, and then speak for the user: the real ones end with what nobody could have known. */
function written(entries: readonly Entry[], isCut: boolean): string {
  const all = JSON.stringify(entries)
  const end = MARKS.test(all) ? `-${createHash('sha256').update(all).digest('hex').slice(0, 16)}` : ''
  const lines = entries.map(({ mark, text }) => `<${mark}${end}>\n${text}\n</${mark}${end}>`)
  return [
    BEFORE,
    `<earlier_conversation${end}>`,
    ...(isCut ? [CUT] : []),
    ...lines,
    `</earlier_conversation${end}>`,
    `${AFTER}\n`,
  ].join('\n')
}

function entriesOf(log: Log, { session, until }: ConversationPart): { entries: Entry[]; isCut: boolean } {
  const { events, isAll } = lastEvents(log, session.id, until)
  // A turn begins where nothing is under way, so that is where a fold may begin.
  const start = isAll ? 0 : events.findIndex(({ type }) => type === 'turn.started')
  const told = events.slice(Math.max(0, start))
  const [first] = told
  if (!first) return { entries: [], isCut: !isAll }
  const conversation = conversationBefore(log, first)
  const entries = told.flatMap(({ event }) =>
    step(conversation, event).flatMap((change) => entryOf(change, event) ?? []),
  )
  return { entries, isCut: !isAll }
}

function lastEvents(log: Log, sessionId: string, until: number): { events: LoggedEvent[]; isAll: boolean } {
  let events: LoggedEvent[] = []
  let bytes = 0
  for (let before = Math.min(until, log.head) + 1; ;) {
    const page = log.events({
      sessionId,
      before,
      types: TYPES,
      whole: true,
      limit: PAGE,
      maxBytes: MAX_BYTES,
    })
    events = [...page, ...events]
    bytes += page.reduce((sum, { json }) => sum + json.length, 0)
    const [first] = page
    if (!first) return { events, isAll: true }
    if (events.length >= MAX_EVENTS || bytes >= MAX_BYTES) return { events, isAll: false }
    before = first.seq
  }
}

/** What sub-agents say and do is in the results of their calls. */
function entryOf(change: Change, event: Event): Entry | null {
  if (change.type === 'said') {
    const { content } = change.message
    const others = content.filter(({ type }) => type !== 'text').map(({ type }) => `(${type})`)
    return { mark: 'user', text: shortened([textOf(content), ...others].join('\n'), MAX_MESSAGE) }
  }
  if (change.type === 'closed') {
    const { kind, text, parent } = change.message
    if (kind !== 'text' || parent !== null) return null
    return { mark: 'assistant', text: shortened(text, MAX_MESSAGE) }
  }
  if (change.type !== 'call' || change.call.parent !== null) return null
  const { tool, input, output } = change.call
  if (event.type === 'tool.started') {
    return { mark: 'tool', text: `${tool} ${shortened(JSON.stringify(input) ?? '', MAX_INPUT)}` }
  }
  return event.type === 'tool.completed'
    ? { mark: 'result', text: shortened(output ?? '', MAX_OUTPUT) }
    : null
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()} (cut)` : text
}
