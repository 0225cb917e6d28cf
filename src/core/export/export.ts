import { step } from '../conversation/conversation.ts'
import { conversationAt, conversationBefore } from '../conversation/reader.ts'
import { CorralError } from '../error.ts'
import type { LoggedEvent } from '../event.ts'
import type { Log, Moment } from '../ports.ts'
import type { Session } from '../session.ts'
import { changeText, markdownHead, remarkText } from './markdown.ts'

/** JSON has all there is, for programs; Markdown is for people. */
export const EXPORT_FORMATS = ['json', 'markdown'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export interface ExportRequest {
  sessionId: string
  format: ExportFormat
  /** `next` of the page before. */
  cursor?: string
}

/** The texts of all pages, one after the other, are the document. */
export interface ExportPage {
  text: string
  next: string | null
}

/** Where the next page begins, in the log as it was when the first page was read. */
interface ExportCursor extends Moment {
  until: number
}

type Source = Pick<Log, 'events' | 'turns' | 'turn' | 'approvals' | 'head' | 'id'>

const PAGE_EVENTS = 500
const PAGE_BYTES = 1024 ** 2

export function exportPage(log: Source, session: Session, { format, cursor }: ExportRequest): ExportPage {
  const start = cursor === undefined ? null : decode(cursor)
  const until = start?.until ?? log.head
  const events = log.events({
    sessionId: session.id,
    after: start?.seq ?? 0,
    before: until + 1,
    whole: true,
    limit: PAGE_EVENTS,
    maxBytes: PAGE_BYTES,
  })
  const isJson = format === 'json'
  const head = start ? '' : isJson ? jsonHead(session, log.id, until) : markdownHead(session)
  const body = isJson
    ? jsonLines(events.filter(isShown), start !== null)
    : markdown(log, session.id, start, events)
  const last = events.at(-1)
  if (!last) return { text: `${head}${body}${isJson ? '\n]}\n' : ''}`, next: null }
  return { text: head + body, next: encode({ seq: last.seq, at: last.event.at, until }) }
}

/** The frame, and then every event of the log as it is, one a line. How to reach MCP servers may hold keys: that stays here. */
function jsonHead(state: Session, log: string, head: number): string {
  const { settings, run: _, ...session } = state
  const { mcpConfig: __, ...shown } = settings
  const frame = { format: 'corral-session', version: 1, log, head, session: { ...session, settings: shown } }
  return `${JSON.stringify(frame).slice(0, -1)},"events":[`
}

/** What somebody has typed and not sent is for nobody else. */
function isShown({ type }: LoggedEvent): boolean {
  return type !== 'session.drafted'
}

function jsonLines(events: LoggedEvent[], begun: boolean): string {
  return events.map(({ json }, at) => `${begun || at > 0 ? ',' : ''}\n${json}`).join('')
}

function markdown(log: Source, sessionId: string, start: ExportCursor | null, events: LoggedEvent[]): string {
  const [first] = events
  if (!first) return ''
  const conversation = start
    ? conversationAt(log, sessionId, start)
    : conversationBefore(log, { sessionId, seq: first.seq })
  const texts = events.flatMap(({ event }) => [
    ...step(conversation, event).map((change) => changeText(change, event, (turnId) => log.turn(turnId))),
    remarkText(event),
  ])
  return texts.map((text) => (text === '' ? '' : `\n${text}\n`)).join('')
}

function encode(start: ExportCursor): string {
  return Buffer.from(JSON.stringify(start)).toString('base64url')
}

function decode(cursor: string): ExportCursor {
  try {
    const { seq, at, until } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as ExportCursor
    if ([seq, at, until].every(Number.isSafeInteger)) return { seq, at, until }
  } catch {
    // Not one of ours, whatever it is.
  }
  throw new CorralError('invalid', 'cursor does not come from an export', { field: 'cursor' })
}
