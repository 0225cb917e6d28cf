import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { BOOT_ID } from '../../src/agents/host/process.ts'
import { type Event, type EventBody, LoggedEvent } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Batch, Log } from '../../src/core/ports.ts'
import { NO_RULES } from '../../src/core/rule.ts'
import { apply, type Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { openLog } from '../../src/store/log.ts'

export const SESSIONS = 10_000
/** With the ten events that a turn has: a million. */
const TURNS = 10
const SESSIONS_PER_COMMIT = 100
const WORDS = 'The quick brown fox jumps over the lazy dog and goes home to its den for the night. '.repeat(2)

export interface FilledLog {
  /** A user's home, for a daemon. */
  home: string
  db: string
  sessionIds: string[]
}

/** Ten thousand sessions that take turns with one another, so that what belongs to one lies all over the file. */
export async function fillLog(home: string): Promise<FilledLog> {
  const corral = join(home, '.corral')
  mkdirSync(corral, { mode: 0o700 })
  mkdirSync(join(home, 'project'))
  const db = join(corral, 'corral.db')
  const log = openForBench(db)
  const writer = createFiller(log, join(home, 'project'))
  for (let turn = 0; turn < TURNS; turn++) {
    for (let from = 0; from < SESSIONS; from += SESSIONS_PER_COMMIT) {
      for (let i = from; i < from + SESSIONS_PER_COMMIT; i++) writer.turn(i)
      await writer.commit()
    }
  }
  await log.close(true)
  return { home, db, sessionIds: writer.ids() }
}

export function openForBench(db: string): Log {
  return openLog({ path: db, bootId: BOOT_ID, newId: uuid, warn: (message) => console.error(message) })
}

function createFiller(log: Log, cwd: string) {
  const sessions: Session[] = []
  const start = Date.now() - 24 * 60 * 60 * 1000
  let seq = log.head
  let batch: Batch = { events: [], writes: [] }

  function add(state: Session | null, sessionId: string, turnId: string | null, body: EventBody): Session {
    seq++
    const event = { seq, at: start + seq, sessionId, turnId, ...body } as Event
    batch.events.push(LoggedEvent.of(event))
    return apply(state, event)
  }

  function create(id: string): Session {
    const unset = { model: null, title: null, nativeId: null, parentId: null, forkFrom: null }
    const body = {
      type: 'session.created',
      agent: 'demo',
      cwd,
      mode: 'auto',
      settings: {},
      rules: NO_RULES,
      origin: 'native',
    } as const
    return add(null, id, null, { ...body, ...unset })
  }

  function turn(index: number): void {
    const id = sessions[index]?.id ?? uuid()
    const turnId = uuid()
    let state = sessions[index] ?? create(id)
    for (const body of bodiesOf(turnId)) state = add(state, id, turnId, body)
    const { events, writes } = batch
    const queued = events.at(-bodiesOf(turnId).length)!
    const at = start + queued.seq
    const input = [{ type: 'text' as const, text: WORDS }]
    const row = {
      id: turnId,
      sessionId: id,
      input,
      key: null,
      origin: 'native',
      queuedAt: at,
      seq: queued.seq,
    }
    writes.push(
      {
        op: 'turn',
        turn: {
          ...row,
          state: 'queued',
          startedAt: null,
          endedAt: null,
          usage: null,
          error: null,
          text: null,
          agent: null,
          mode: null,
          model: null,
        },
      },
      {
        op: 'turn.update',
        id: turnId,
        patch: { state: 'completed', startedAt: at, endedAt: at, usage: NO_USAGE, text: WORDS },
      },
      { op: 'session', session: state },
    )
    sessions[index] = state
  }

  return {
    turn,
    ids: () => sessions.map((session) => session.id),
    async commit() {
      const full = batch
      batch = { events: [], writes: [] }
      await log.append(full)
    },
  }
}

function bodiesOf(turnId: string): EventBody[] {
  const message = { type: 'message.completed', parent: null, aborted: false } as const
  const callId = `${turnId}-call`
  return [
    {
      type: 'turn.queued',
      turnId,
      input: [{ type: 'text', text: WORDS }],
      key: null,
      origin: 'native',
      position: 0,
    },
    { type: 'turn.started', turnId },
    { type: 'session.status', status: 'running', previous: 'idle', outcome: null },
    { type: 'turn.accepted', turnId },
    { ...message, messageId: `${turnId}-0`, kind: 'thinking', text: WORDS },
    { type: 'tool.started', callId, tool: 'Read', input: { file_path: '/a/file.ts' }, parent: null },
    { type: 'tool.completed', callId, output: WORDS, isError: false, parent: null, cut: 0 },
    { ...message, messageId: `${turnId}-1`, kind: 'text', text: WORDS },
    { type: 'turn.completed', turnId, usage: NO_USAGE, text: WORDS },
    { type: 'session.status', status: 'idle', previous: 'running', outcome: 'completed' },
  ]
}
