import { CorralError } from '../error.ts'
import type { LoggedEvent } from '../event.ts'
import type { Log } from '../ports.ts'
import type { Session } from '../session.ts'
import { markdownHead, markdownOf, NO_MEMORY, type TurnOf, type Memory } from './markdown.ts'

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

/** The log as it was when the first page was read. */
interface Place {
  after: number
  until: number
  begun: boolean
  memory: Memory
}

const PAGE_EVENTS = 500
const PAGE_BYTES = 1024 ** 2

export function exportPage(
  log: Pick<Log, 'events' | 'turn' | 'head' | 'id'>,
  session: Session,
  { format, cursor }: ExportRequest,
): ExportPage {
  const place = cursor === undefined ? null : decode(cursor)
  const { after, until, begun, memory } = place ?? {
    after: 0,
    until: log.head,
    begun: false,
    memory: NO_MEMORY,
  }
  const events = log.events({
    sessionId: session.id,
    after,
    before: until + 1,
    whole: true,
    limit: PAGE_EVENTS,
    maxBytes: PAGE_BYTES,
  })
  const made =
    format === 'json'
      ? { text: jsonLines(events, begun), memory }
      : markdown(events, memory, (turnId) => log.turn(turnId))
  const head = place ? '' : format === 'json' ? jsonHead(session, log.id, until) : markdownHead(session)
  const last = events.at(-1)
  if (!last) return { text: `${head}${made.text}${format === 'json' ? '\n]}\n' : ''}`, next: null }
  return {
    text: head + made.text,
    next: encode({ after: last.seq, until, begun: true, memory: made.memory }),
  }
}

/** The frame, and then every event of the log as it is, one a line. How to reach MCP servers may hold keys: that stays here. */
function jsonHead(state: Session, log: string, head: number): string {
  const { settings, run: _, ...session } = state
  const { mcpConfig: __, ...shown } = settings
  const frame = { format: 'corral-session', version: 1, log, head, session: { ...session, settings: shown } }
  return `${JSON.stringify(frame).slice(0, -1)},"events":[`
}

function jsonLines(events: LoggedEvent[], begun: boolean): string {
  return events.map(({ json }, at) => `${begun || at > 0 ? ',' : ''}\n${json}`).join('')
}

function markdown(events: LoggedEvent[], before: Memory, turnOf: TurnOf): { text: string; memory: Memory } {
  let memory = before
  let text = ''
  for (const { event } of events) {
    const told = markdownOf(event, memory, turnOf)
    memory = told.memory
    if (told.text !== '') text += `\n${told.text}\n`
  }
  return { text, memory }
}

function encode(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

function decode(cursor: string): Place {
  try {
    const { after, until, begun, memory } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Place
    const { tools, asked } = memory
    if (Number.isSafeInteger(after) && Number.isSafeInteger(until) && isWords(tools) && isWords(asked)) {
      return { after, until, begun, memory: { tools, asked } }
    }
  } catch {
    // Not one of ours, whatever it is.
  }
  throw new CorralError('invalid', 'cursor is not one that an export gave out', { field: 'cursor' })
}

function isWords(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).every((word) => typeof word === 'string')
}
