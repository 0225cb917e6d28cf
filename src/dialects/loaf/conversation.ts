import { CONVERSATION_TYPES, emptyConversation, step } from '../../core/conversation/conversation.ts'
import type { Event, EventOf, EventType } from '../../core/event.ts'
import { READY, type RecordOptions, type WireEvent } from './record.ts'
import { spell } from './spelling.ts'
import { isBusy, newView, type View } from './view.ts'
import type { SessionState } from './wire.ts'

/** The events of the log that this dialect tells anything about. */
export const TYPES: EventType[] = [
  ...CONVERSATION_TYPES,
  'session.changed',
  'session.destroyed',
  'agent.init',
  'agent.exited',
]

/** A session as this protocol sees it: what to tell about each of its events, and about what no event says. */
export function createConversation(options: RecordOptions) {
  const view = newView(options)
  const { record } = view
  return {
    record,
    queue: view.queue,
    /** A message would have to wait. */
    get busy() {
      return isBusy(view)
    },
    /** What came of the last time that it was summed up; null: nothing. */
    get compaction() {
      return view.compactions.last
    },
    get answer() {
      return view.answer
    },
    get tools() {
      return view.tools
    },
    get chosen() {
      return view.chosen
    },
    /** The names of the images of a message that is about to be sent. */
    name: (key: string, paths: readonly string[]) => void view.paths.set(key, paths),
    step(event: Event): WireEvent[] {
      view.updatedAt = event.at
      return record.of(event, () => {
        for (const change of step(view.conversation, event)) spell(view, change, event)
        notes(view, event)
      })
    },
    /** A message that never got as far as the log. */
    refused: (id: string, message: string, kind: string) =>
      record.beside(() => refused(view, id, message, kind)),
    remark: (text: string) => record.beside(() => record.append('system', text)),
    /** The turn is over, and how it ended is not known. */
    lost: (message: string) => record.beside(() => lost(view, message)),
    state: (createdAt: number): SessionState => ({ id: options.sessionId, ...stateOf(view, createdAt) }),
  }
}

export type Conversation = ReturnType<typeof createConversation>

/** What matters here and is no part of the conversation. */
function notes(view: View, event: Event): void {
  if (event.type === 'session.changed') changed(view, event)
  else if (event.type === 'agent.init') view.tools = toolsIn(event.raw)
  else if (event.type === 'agent.exited' && event.expected) view.stopper ??= 'process'
}

function changed(view: View, event: EventOf<'session.changed'>): void {
  const { model = view.chosen.model, effort = view.chosen.effort } = event
  view.chosen = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }) }
  if (event.nativeId !== null || view.conversation.turn !== null) return
  view.record.clear()
  view.compactions.clear()
}

function refused({ record }: View, id: string, message: string, kind: string): void {
  const { label } = record
  if (label === READY) record.status('preparing...', id)
  record.append('system', `inference error: ${message}`)
  record.tell('session.error', { turn_id: id, message, kind })
  record.status(label)
}

function lost(view: View, message: string): void {
  const { record } = view
  const { turn } = view.conversation
  view.conversation = emptyConversation()
  record.append('system', message)
  if (turn) record.tell('session.error', { turn_id: turn.id, message, kind: 'cursor_reset' })
  record.status(READY)
}

function stateOf({ record, conversation, queue, updatedAt }: View, createdAt: number) {
  return {
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(Math.max(updatedAt, createdAt)).toISOString(),
    pending: record.label !== READY,
    statusLabel: record.label,
    messages: [...record.messages],
    history: [...record.history],
    queue: [...queue],
    pendingSteerCount: [...conversation.waiting.values()].filter(({ steer }) => steer).length,
    ...record.context(),
  }
}

function toolsIn(raw: unknown): string[] {
  const list = typeof raw === 'object' && raw !== null && 'tools' in raw ? raw.tools : []
  return Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string') : []
}
