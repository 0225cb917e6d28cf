import type { Event, EventType } from '../../core/event.ts'
import type { Engine } from '../../core/api.ts'
import type { Session } from '../../core/session.ts'
import { modeName, statusChange } from './status.ts'

/** Something that clients are told without having asked. */
export interface Push {
  readonly method: string
  readonly sessionId: string | null
  /** Who has this has missed nothing up to here in the log. */
  readonly seq: number
  readonly params: Readonly<Record<string, unknown>>
  /** An answer, as far as it is there, and whether it is complete: for clients that put it together from pieces. */
  readonly grown?: { readonly messageId: string; readonly content: string; readonly done: boolean }
}

/** A push before it has its number. */
export type Untold = Omit<Push, 'seq'>

/** Every push, for documentation and for the conformance tests. */
export const PUSHES: Readonly<Record<string, string>> = {
  'daemon.ready': 'The first push after `events.subscribe`: `version`, `port`.',
  'daemon.updating': 'The package of a newer Corral is being fetched: `version`.',
  'daemon.updateAvailable': 'The release feed has a newer Corral: `current`, `latest`.',
  'daemon.updateFailed': 'It could not be fetched, or is not what was signed: `version`, `error`.',
  'session.statusChanged':
    'A session is `idle`, `running`, `paused` or in `error`; then `reason` and `error` say why.',
  'session.messageCreated':
    'A message of the user, when its turn begins, or the beginning of one of the assistant, which is empty: `message`.',
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

/** The events that say something by themselves. */
export const PLAIN_TYPES: readonly EventType[] = [
  'session.created',
  'session.status',
  'session.changed',
  'session.destroyed',
]

export function pushesOf(engine: Engine, event: Event): Untold[] {
  const { sessionId } = event
  const push = (method: string, params: Record<string, unknown>): Untold[] => [
    { method, sessionId, params: { sessionId, ...params } },
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
  push: (method: string, params: Record<string, unknown>) => Untold[],
): Untold[] {
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
  const found = engine.events.read({ sessionId, before: seq, types, limit: 200 }).map(({ event }) => event)
  const modes = found.flatMap((event) => ('mode' in event && event.mode !== undefined ? [event.mode] : []))
  const notes = found.flatMap((event) =>
    event.type === 'session.changed' && event.notes !== undefined ? [event.notes] : [],
  )
  return { mode: modes.at(-1) ?? 'ask', notes: notes.at(-1) ?? {} }
}

function sessionOrNull(engine: Engine, sessionId: string) {
  try {
    return engine.sessions.get(sessionId)
  } catch {
    return null
  }
}
