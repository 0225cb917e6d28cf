import { step, type Conversation } from '../../src/core/conversation/conversation.ts'
import type {
  ApprovalItem,
  Call,
  CallState,
  Change,
  Message,
  UserMessage,
} from '../../src/core/conversation/item.ts'
import { conversationOf, type ConversationParts } from '../../src/core/conversation/parts.ts'
import { shortened, slim, withoutData } from '../../src/core/conversation/slim.ts'
import type { Event, PlanEntry } from '../../src/core/event.ts'
import {
  callRowId,
  isOver,
  joined,
  place,
  TOP,
  type CallRow,
  type Row,
  type RowList,
  type SaidRow,
} from './row.ts'

/**
 * The rows of a conversation, as far as it has been read: folded by the daemon's own `step`, so that what is seen live, after a
 * reload and on another device is the same. It begins anywhere; older parts are put in front (`prepend`).
 */
export interface Transcript {
  readonly conversation: Conversation
  readonly rows: Map<string, Row>
  /** By the id of the call that holds them; `TOP` for what the agent itself says and does. */
  readonly lists: Map<string, RowList>
  /** Ids of the messages that wait, in order. */
  queue: string[]
  plan: readonly PlanEntry[] | null
  /** The agent sums up its conversation. */
  compacting: boolean
  /** Rows that are new or another object since somebody last took them. */
  changed: Set<string>
  /** The order of rows, or which there are, is another one since then. */
  moved: boolean
}

/** What `conversation.read` tells. */
export interface TranscriptPage {
  under: ConversationParts
  events: readonly Event[]
  queue: readonly string[]
  plan: readonly PlanEntry[] | null
}

const isNeverOpen = (): boolean => false

export function openTranscript(page: TranscriptPage): Transcript {
  const transcript: Transcript = {
    conversation: conversationOf(page.under),
    rows: new Map(),
    lists: new Map(),
    queue: [],
    plan: null,
    compacting: false,
    changed: new Set(),
    moved: true,
  }
  for (const call of page.under.calls) if (!isOver(call.state)) putCall(transcript, call)
  for (const question of page.under.questions) if (question.asked) ask(transcript, question)
  for (const message of page.under.open) opened(transcript, message)
  for (const event of page.events) advance(transcript, event)
  transcript.queue = [...page.queue]
  transcript.plan = page.plan
  return transcript
}

/** The next event of the session, in the order of the log. */
export function advance(transcript: Transcript, event: Event): void {
  for (const change of step(transcript.conversation, event)) make(transcript, change, event)
}

/**
 * Puts an older part in front, which ends where this one begins. `isForeign`: it is of the session that this one branched off,
 * and what was under way there is nobody's business here.
 */
export function prepend(transcript: Transcript, page: TranscriptPage, isForeign = false): void {
  const older = openTranscript(page)
  if (isForeign) settle(older)
  const { rows, lists, changed } = transcript
  for (const [id, row] of older.rows) {
    const known = rows.get(id)
    rows.set(id, known ? joined(row, known) : row)
    changed.add(id)
  }
  for (const [parent, { placed }] of older.lists) {
    const list = lists.get(parent) ?? { placed: [], open: [] }
    const before = new Set(placed)
    const after = list.placed.filter((id) => !before.has(id))
    lists.set(parent, { placed: [...placed, ...after], open: list.open })
  }
  transcript.moved = true
}

function settle({ rows }: Transcript): void {
  for (const [id, row] of rows) {
    if (row.kind === 'call' && !isOver(row.state)) rows.set(id, { ...row, state: 'done', questions: [] })
  }
}

/** What changed since the last time. */
export function takeChanges(transcript: Transcript): { rows: ReadonlySet<string>; moved: boolean } {
  const { changed: rows, moved } = transcript
  transcript.changed = new Set()
  transcript.moved = false
  return { rows, moved }
}

export interface VisibleRow {
  readonly id: string
  readonly depth: number
}

/**
 * The rows that are to be seen, in order. Of a call that is folded, what its sub-agent waits for is seen all the same: nobody
 * has to look for a question.
 */
export function visibleRows(transcript: Transcript, isOpen: (id: string) => boolean): VisibleRow[] {
  const { lists, rows } = transcript
  const asked = askedIn(transcript)
  const seen: VisibleRow[] = []
  const add = (parent: string, depth: number, isWhole: boolean): void => {
    const list = lists.get(parent)
    if (!list) return
    for (const id of [...list.placed, ...list.open]) {
      if (!isWhole && !asked.has(id)) continue
      seen.push({ id, depth })
      const row = rows.get(id)
      if (row?.kind !== 'call') continue
      const isWholeInside = isWhole && isOpen(id)
      if (isWholeInside || asked.has(id)) add(row.callId, depth + 1, isWholeInside)
    }
  }
  add(TOP, 0, true)
  return seen
}

/** The rows in which somebody is asked something, and those of the calls that hold them. */
function askedIn(transcript: Transcript): ReadonlySet<string> {
  const questions = [...transcript.conversation.questions.values()].filter(({ asked }) => asked)
  return new Set(questions.flatMap(({ callId }) => callsAbove(transcript, callId)).map(callRowId))
}

/** A call, the one that it is in, and so on up to the agent's own. Calls that claim to hold each other are told once. */
export function callsAbove({ rows }: Transcript, callId: string | null): string[] {
  const above = new Set<string>()
  for (let at = callId; at !== null && !above.has(at); at = rows.get(callRowId(at))?.parent ?? null)
    above.add(at)
  return [...above]
}

function make(transcript: Transcript, change: Change, event: Event): void {
  switch (change.type) {
    case 'waits':
    case 'moved':
    case 'withdrawn':
    case 'said':
      transcript.queue = queueAfter(transcript.queue, change)
      if (change.type === 'said') said(transcript, change.message, event)
      return
    case 'opened':
    case 'grew':
      return opened(transcript, change.message, event)
    case 'closed':
      return closed(transcript, change.message, event)
    case 'call':
      return putCall(transcript, change.call, change.was, event)
    case 'asked':
      return change.question.asked ? ask(transcript, change.question) : undefined
    case 'decided':
      return decided(transcript, change)
    default:
      return remark(transcript, change, event)
  }
}

type QueueChange = Extract<Change, { type: 'waits' | 'moved' | 'withdrawn' | 'said' }>

/** The queue as the session itself has it. */
function queueAfter(queue: string[], change: QueueChange): string[] {
  const id = change.type === 'moved' ? change.id : change.message.id
  const others = queue.filter((one) => one !== id)
  switch (change.type) {
    case 'waits':
      return change.late ? [id, ...others] : [...others, id]
    case 'moved':
      return others.toSpliced(change.position - 1, 0, id)
    default:
      return others.length === queue.length ? queue : others
  }
}

function said(transcript: Transcript, message: UserMessage, event: Event): void {
  const { id, content, steer, origin, sentAt } = message
  const about = { messageId: id, content: withoutData(content), steer, origin, sentAt }
  put(transcript, { kind: 'user', id: `u:${id}`, ...placeOf(event), ...about })
}

function opened(transcript: Transcript, message: Message, event?: Event): void {
  const { kind, text, parent, openedAt: at } = message
  const id = `m:${message.id}`
  const known = transcript.rows.get(id)
  const turnId = known?.turnId ?? event?.turnId ?? transcript.conversation.turn?.id ?? null
  const row: SaidRow = { id, kind, seq: 0, at, parent, turnId, text, open: true, aborted: false }
  keep(transcript, row)
  if (known) return
  listOf(transcript, parent).open.push(id)
  transcript.moved = true
}

/** It stands where it was complete: what was streamed leaves the log, and with it where it began. */
function closed(transcript: Transcript, message: Message, event: Event): void {
  const { kind, text, parent, aborted } = message
  const id = `m:${message.id}`
  const list = listOf(transcript, parent)
  const at = list.open.indexOf(id)
  if (at >= 0) list.open.splice(at, 1)
  put(transcript, { id, kind, ...placeOf(event), parent, text, open: false, aborted })
}

function putCall(transcript: Transcript, call: Call, was: CallState | null = null, event?: Event): void {
  const id = callRowId(call.id)
  const known = transcript.rows.get(id)
  const before = known?.kind === 'call' ? known : null
  const result = event?.type === 'tool.completed' ? event : null
  const row: CallRow = {
    kind: 'call',
    id,
    seq: call.seq,
    at: call.startedAt,
    parent: callsAbove(transcript, call.parent).includes(call.id) ? null : call.parent,
    turnId: before?.turnId ?? event?.turnId ?? null,
    callId: call.id,
    tool: call.tool,
    input: shortened(call.input),
    state: call.state,
    since: was === 'asked' && event ? event.at : (before?.since ?? call.startedAt),
    endedAt: endOf(call, was, before, event),
    endSeq: result?.seq ?? before?.endSeq ?? null,
    error: result?.isError ? errorOf(result) : (before?.error ?? null),
    usage: call.usage ?? before?.usage ?? null,
    questions: isOver(call.state) ? [] : (before?.questions ?? []),
    verdict: before?.verdict ?? null,
    known: true,
  }
  if (before && before.parent === row.parent && before.seq === row.seq) keep(transcript, row)
  else put(transcript, row)
}

/** When it was over; null also where that was before this transcript begins. */
function endOf(call: Call, was: CallState | null, before: CallRow | null, event?: Event): number | null {
  if (!isOver(call.state)) return null
  return was !== null && isOver(was) ? (before?.endedAt ?? null) : (event?.at ?? null)
}

function errorOf(event: Event & { type: 'tool.completed' }): string {
  const short = slim(event, isNeverOpen)
  return short.type === 'tool.completed' ? short.output : ''
}

function ask(transcript: Transcript, question: ApprovalItem): void {
  const row = transcript.rows.get(callRowId(question.callId))
  if (row?.kind !== 'call') return
  const others = row.questions.filter(({ approval }) => approval.id !== question.approval.id)
  if (row.parent !== null) transcript.moved = true
  keep(transcript, { ...row, questions: [...others, question] })
}

function decided(transcript: Transcript, change: Extract<Change, { type: 'decided' }>): void {
  const { verdict, question } = change
  const row = question && transcript.rows.get(callRowId(question.callId))
  if (row?.kind !== 'call') return
  const questions = row.questions.filter(({ approval }) => approval.id !== verdict.approvalId)
  if (row.parent !== null) transcript.moved = true
  keep(transcript, { ...row, questions, verdict: verdict.asked ? verdict : row.verdict })
}

function remark(transcript: Transcript, change: Change, event: Event): void {
  switch (change.type) {
    case 'plan':
      transcript.plan = change.entries
      return
    case 'notice': {
      const { level, code, message: text } = change
      return put(transcript, { kind: 'notice', id: `n:${event.seq}`, ...placeOf(event), level, code, text })
    }
    case 'compacting':
      transcript.compacting = true
      return
    case 'compacted': {
      const { tokensBefore, tokensAfter, error } = change
      transcript.compacting = false
      const about = { tokensBefore, tokensAfter, error }
      return put(transcript, { kind: 'compacted', id: `k:${event.seq}`, ...placeOf(event), ...about })
    }
    case 'ended': {
      const { turnId, outcome, usage, error } = change.end
      transcript.compacting = false
      dropOpen(transcript)
      return put(transcript, { kind: 'end', id: `e:${turnId}`, ...placeOf(event), outcome, usage, error })
    }
    default:
  }
}

/** Nobody will finish it, and the log will not tell of it. */
function dropOpen(transcript: Transcript): void {
  for (const { open } of transcript.lists.values()) {
    for (const id of open.splice(0)) transcript.rows.delete(id)
  }
}

function placeOf({ seq, at, turnId }: Event) {
  return { seq, at, parent: null, turnId: turnId ?? null }
}

function keep(transcript: Transcript, row: Row): void {
  transcript.rows.set(row.id, row)
  transcript.changed.add(row.id)
}

/** The row is there from now on, in its place. */
function put(transcript: Transcript, row: Row): void {
  const known = transcript.rows.get(row.id)
  if (known) remove(transcript, known)
  keep(transcript, row)
  place(listOf(transcript, row.parent), row, transcript.rows)
  transcript.moved = true
}

function remove({ lists }: Transcript, row: Row): void {
  const placed = lists.get(row.parent ?? TOP)?.placed
  const at = placed ? placed.lastIndexOf(row.id) : -1
  if (at >= 0) placed!.splice(at, 1)
}

/** The rows of a call; one that is not known yet gets a row of its own, so that they can be seen. */
function listOf(transcript: Transcript, parent: string | null): RowList {
  const key = parent ?? TOP
  const known = transcript.lists.get(key)
  if (known) return known
  const list: RowList = { placed: [], open: [] }
  transcript.lists.set(key, list)
  if (parent !== null && !transcript.rows.has(callRowId(parent))) adopt(transcript, parent)
  return list
}

function adopt(transcript: Transcript, callId: string): void {
  const call = transcript.conversation.calls.get(callId)
  if (call) return putCall(transcript, call)
  put(transcript, {
    kind: 'call',
    id: callRowId(callId),
    seq: 0,
    at: 0,
    parent: null,
    turnId: null,
    callId,
    tool: '',
    input: null,
    state: 'done',
    since: 0,
    endedAt: null,
    endSeq: null,
    error: null,
    usage: null,
    questions: [],
    verdict: null,
    known: false,
  })
}
