import type { Event, EventType } from '../../core/event.ts'
import type { Engine } from '../../core/api.ts'
import type { Session } from '../../core/session.ts'
import type { Change, Message } from './conversation.ts'
import { modeName, statusChange } from './status.ts'
import { messageView, toolCallView } from './views.ts'

/** Something that clients are told without having asked. */
export interface Push {
  readonly method: string
  readonly sessionId: string | null
  /** Who has this has missed nothing up to here in the log. */
  readonly seq: number
  readonly params: Readonly<Record<string, unknown>>
  /** What an assistant's message has grown by, and whether it is complete: for clients that put it together themselves. */
  readonly grown?: {
    readonly messageId: string
    readonly delta: string
    readonly content: string
    readonly done: boolean
  }
}

/** Every push, for documentation and for the conformance tests. */
export const PUSHES: Readonly<Record<string, string>> = {
  'daemon.ready': 'The first push after `events.subscribe`: `version`, `port`.',
  'daemon.updating': 'The package of a newer Corral is being fetched: `version`.',
  'daemon.updateAvailable': 'The release feed has a newer Corral: `current`, `latest`.',
  'daemon.updateFailed': 'It could not be fetched, or is not what was signed: `version`, `error`.',
  'session.statusChanged':
    'A session is `idle`, `running`, `paused` or in `error`; then `reason` and `error` say why.',
  'session.messageCreated':
    'A message of the user, or the beginning of one of the assistant, which is empty: `message`.',
  'session.messageUpdated':
    'The whole `content` so far, which replaces what was there; `status` is `streaming`, at the end `done`.',
  'session.toolCallCreated':
    'A tool call begins, or waits for a human (`pending`) and can be answered: `toolCall`.',
  'session.toolCallUpdated': '`toolCallId`, `status`: pending, running, done, error, rejected.',
  'session.modeChanged': 'A session has another mode: `mode`, `previousMode`.',
  'session.deleted': 'A session is gone.',
  'repo.statusChanged': 'The status of a repository that was opened, as `repo.status` answers it.',
  'project.created': 'A new project: `project`.',
  'project.updated': 'A project has changed: `project`.',
  'project.deleted': '`projectId`.',
  'project.repoAdded': '`projectId`, `repo`.',
  'project.repoRemoved': '`projectId`, `repoPath`.',
  'device.paired': 'A device was let in: `deviceId`, `name`, `platform`.',
  'device.revoked': 'A device was put out: `deviceId`.',
  'events.lagged': 'You have read too slowly: what follows comes from the log, from `after` to `head`.',
}

/** What a change of a conversation is to clients; pieces of messages are not told here, see `teller.ts`. */
export function pushOfChange(change: Change, seq: number): Push {
  if ('message' in change) {
    return change.kind === 'message' ? created(change.message, seq) : updated(change.message, seq, 0)
  }
  const { call } = change
  const { sessionId } = call
  if (change.kind === 'call') {
    return {
      method: 'session.toolCallCreated',
      sessionId,
      seq,
      params: { sessionId, toolCall: toolCallView(call) },
    }
  }
  const params = { sessionId, toolCallId: call.id, status: call.status, name: call.name, output: call.output }
  return { method: 'session.toolCallUpdated', sessionId, seq, params }
}

export function created(message: Message, seq: number): Push {
  const { sessionId } = message
  const params = { sessionId, message: messageView(message) }
  return { method: 'session.messageCreated', sessionId, seq, params }
}

/** `told`: how much of it has been told before. */
export function updated(message: Message, seq: number, told: number): Push {
  const { sessionId, id: messageId, content, status, aborted } = message
  const params = { sessionId, messageId, content, status, ...(aborted && { aborted }) }
  const grown = { messageId, content, delta: content.slice(told), done: status === 'done' }
  return { method: 'session.messageUpdated', sessionId, seq, params, grown }
}

/** The events that say something by themselves. */
export const PLAIN_TYPES: readonly EventType[] = [
  'session.created',
  'session.status',
  'session.changed',
  'session.destroyed',
]

export function pushesOf(engine: Engine, event: Event): Push[] {
  const { sessionId, seq } = event
  const push = (method: string, params: Record<string, unknown>): Push[] => [
    { method, sessionId, seq, params: { sessionId, ...params } },
  ]
  switch (event.type) {
    case 'session.created':
      return push('session.statusChanged', { status: 'idle' })
    case 'session.status': {
      const status = statusChange(event)
      if (status === null) return []
      return push('session.statusChanged', { status, ...(status === 'error' && whyOf(engine, sessionId)) })
    }
    case 'session.changed':
      return event.mode === undefined && event.notes === undefined ? [] : modeChanged(engine, event, push)
    case 'session.destroyed':
      return push('session.deleted', {})
    default:
      return []
  }
}

/** The model's own limit has a code in this protocol. */
function whyOf(engine: Engine, sessionId: string): Record<string, unknown> {
  const error = sessionOrNull(engine, sessionId)?.lastError
  if (!error) return {}
  const { code, message, detail } = error
  const limited = detail?.['status'] === 429
  return {
    reason: limited ? 'RATE_LIMITED' : code,
    error: { code, message, ...(limited && { rpcCode: -32003 }) },
  }
}

function modeChanged(
  engine: Engine,
  event: Event & { type: 'session.changed' },
  push: (method: string, params: Record<string, unknown>) => Push[],
): Push[] {
  const before = modeBefore(engine, event.sessionId, event.seq)
  const [mode, previousMode] = [
    modeName({ mode: event.mode ?? before.mode, notes: event.notes ?? before.notes }),
    modeName(before),
  ]
  if (mode === previousMode) return []
  return push('session.modeChanged', { mode, previousMode, timestamp: new Date(event.at).toISOString() })
}

/** The mode of a session just before an event. */
function modeBefore(engine: Engine, sessionId: string, seq: number): Pick<Session, 'mode' | 'notes'> {
  const types: EventType[] = ['session.created', 'session.changed']
  const found = engine.events({ sessionId, before: seq, types, limit: 200 }).map(({ event }) => event)
  const modes = found.flatMap((event) => ('mode' in event && event.mode !== undefined ? [event.mode] : []))
  const notes = found.flatMap((event) =>
    event.type === 'session.changed' && event.notes !== undefined ? [event.notes] : [],
  )
  return { mode: modes.at(-1) ?? 'ask', notes: notes.at(-1) ?? {} }
}

export function sessionOrNull(engine: Engine, sessionId: string) {
  try {
    return engine.session(sessionId)
  } catch {
    return null
  }
}
