import { rulesMadeBy } from './decisions.ts'
import type { Site } from './rule.ts'
import { fileChanges } from './diff/edit.ts'
import type { EngineContext } from './context.ts'
import type { Event, EventType } from './event.ts'
import type { FileChange } from './file-change.ts'
import type { ApprovalRow, Log } from './ports.ts'
import { kindOfAgent, titleOfCall } from './subagent.ts'

/** What a human wants to know before deciding. */
export interface ApprovalContext {
  /** What the agent said before it asked. */
  lines: string[]
  /** The sub-agent that asks; null: the agent itself. */
  subagent: { callId: string; title: string } | null
  /** The rules that a yes for the session, or for its directory, would add. */
  effects: { session: string[]; directory: string[]; path: string }
  /** What the edit would change, where the input tells it. */
  files: FileChange[] | null
}

const MAX_LINES = 12
const MAX_LINE = 500
/** Events that are looked at, from the question backwards. */
const MAX_EVENTS = 2000
const PAGE = 100
const PAGE_BYTES = 2 * 1024 ** 2

export function approvalContext(context: EngineContext, row: ApprovalRow): ApprovalContext {
  const { log, drafts, directories } = context
  const site: Site = drafts.peek(row.sessionId) ?? { cwd: '/' }
  const { cwd, worktreeOf = cwd } = site
  return {
    ...saidBefore(log, row),
    effects: {
      session: rulesMadeBy(row, site),
      directory: rulesMadeBy(row, site, true),
      path: directories.at(worktreeOf).path,
    },
    files: fileChanges(row, cwd),
  }
}

const LOOKED_AT: EventType[] = ['message.completed', 'tool.started', 'turn.started']

function saidBefore(log: Log, row: ApprovalRow): Pick<ApprovalContext, 'lines' | 'subagent'> {
  const spoken: string[] = []
  const thought: string[] = []
  let subagent: ApprovalContext['subagent'] = null
  const asked = placeOf(log, row)
  for (const event of asked === null ? [] : backwards(log, row.sessionId, asked, LOOKED_AT)) {
    if (event.type === 'turn.started') break
    if (event.type === 'tool.started' && event.callId === row.parent) {
      subagent = { callId: event.callId, title: titleOfCall(event) }
    }
    if (event.type === 'message.completed' && event.parent === row.parent) {
      const lines = event.kind === 'text' ? spoken : thought
      if (lines.length < MAX_LINES) lines.unshift(...linesOf(event.text).slice(lines.length - MAX_LINES))
    }
    if (spoken.length >= MAX_LINES && (subagent || row.parent === null)) break
  }
  if (row.parent !== null) subagent ??= { callId: row.parent, title: kindOfAgent(null, null) }
  return { lines: spoken.length > 0 ? spoken : thought, subagent }
}

/** The `seq` of the question; null: it is too old to be in the log. */
function placeOf(log: Log, row: ApprovalRow): number | null {
  for (const event of backwards(log, row.sessionId, log.head + 1, ['approval.requested'])) {
    if (event.type === 'approval.requested' && event.approval.id === row.id) return event.seq
    if (event.at < row.requestedAt) return null
  }
  return null
}

function* backwards(log: Log, sessionId: string, from: number, types: EventType[]): Generator<Event> {
  for (let [before, looked] = [from, 0]; looked < MAX_EVENTS;) {
    const query = { sessionId, before, types, whole: true, limit: PAGE, maxBytes: PAGE_BYTES }
    const page = log.events(query)
    for (const { event } of page.toReversed()) yield event
    if (!page[0]) return
    before = page[0].seq
    looked += page.length
  }
}

/** The last ones of a text that may be very long. */
function linesOf(text: string): string[] {
  return text
    .slice(-2 * MAX_LINES * MAX_LINE)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-MAX_LINES)
    .map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1).toWellFormed()}…` : line))
}
