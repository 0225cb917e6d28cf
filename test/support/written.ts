import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { BOOT_ID } from '../../src/agents/host/process.ts'
import { createDirectories } from '../../src/core/directories.ts'
import { createDrafts, type Drafts } from '../../src/core/draft.ts'
import type { EventBody, EventOf } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import { NO_RULES } from '../../src/core/rule.ts'
import { NO_USAGE, type Usage } from '../../src/core/usage.ts'
import { openLog } from '../../src/store/log.ts'

/** A conversation that never was: it is in the log as if an agent had said it. */
export interface Writer {
  /** Where sessions are. */
  readonly project: string
  session(about?: Partial<EventOf<'session.created'>>): Promise<string>
  /** A whole turn: a message, what the agent says and does about it, and its end. */
  turn(sessionId: string, message: string, bodies: readonly EventBody[], end?: TurnEnd): Promise<void>
  add(sessionId: string, ...bodies: EventBody[]): Promise<void>
  /** Everything that follows happens later. */
  wait(ms: number): void
}

export interface TurnEnd {
  usage?: Partial<Usage>
  error?: { code: string; message: string }
  /** How long it took. */
  ms?: number
}

/** Fills the data directory of a user's home, for a daemon that is started there; `from`: when the first of it happened. */
export async function writeHome(
  home: string,
  write: (writer: Writer) => Promise<void>,
  from: number = Date.now() - 60_000,
): Promise<void> {
  const corral = join(home, '.corral')
  const project = join(home, 'project')
  for (const path of [corral, project]) mkdirSync(path, { mode: 0o700, recursive: true })
  const log = openLog({
    path: join(corral, 'corral.db'),
    bootId: BOOT_ID,
    newId: uuid,
    warn: (message) => console.error(message),
  })
  let now = from
  const drafts = createDrafts({
    log,
    clock: { now: () => now },
    directories: createDirectories({ log, realPath: (path) => path }),
    committed() {},
    copied() {},
  })
  await write({ ...writerOf(drafts, project, (ms) => (now += ms)), project })
  await log.close(true)
}

function writerOf(drafts: Drafts, project: string, wait: (ms: number) => void): Omit<Writer, 'project'> {
  async function add(sessionId: string, ...bodies: EventBody[]): Promise<void> {
    const draft = drafts.of(sessionId)
    draft.add(...bodies)
    await draft.commit()
  }
  return {
    add,
    wait,
    async session(about = {}) {
      const id = uuid()
      const unset = { model: null, title: null, nativeId: null, parentId: null, forkFrom: null }
      await add(id, {
        type: 'session.created',
        agent: 'demo',
        cwd: project,
        mode: 'auto',
        settings: {},
        rules: NO_RULES,
        origin: 'native',
        ...unset,
        ...about,
      })
      return id
    },
    async turn(sessionId, message, bodies, { usage, error, ms = 1000 } = {}) {
      const turnId = uuid()
      await add(sessionId, ...begun(turnId, message), ...bodies)
      wait(ms)
      const used = { ...NO_USAGE, durationMs: ms, ...usage }
      const last = bodies.findLast((body) => body.type === 'message.completed')
      await add(
        sessionId,
        error
          ? { type: 'turn.failed', turnId, usage: used, error }
          : { type: 'turn.completed', turnId, usage: used, text: last?.text ?? null },
      )
    },
  }
}

function begun(turnId: string, text: string): EventBody[] {
  return [
    {
      type: 'turn.queued',
      turnId,
      input: [{ type: 'text', text }],
      key: null,
      origin: 'native',
      position: 0,
    },
    { type: 'turn.started', turnId },
    { type: 'turn.accepted', turnId },
  ]
}

/** What an agent says, or thinks, and what it does: one of each, with ids that nobody else has. */
export const says = (text: string, parent: string | null = null): EventBody => ({
  type: 'message.completed',
  messageId: uuid(),
  kind: 'text',
  text,
  parent,
  aborted: false,
})

export const thinks = (text: string): EventBody => ({
  type: 'message.completed',
  messageId: uuid(),
  kind: 'thinking',
  text,
  parent: null,
  aborted: false,
})

export interface Used {
  tool: string
  input: unknown
  output: string
  callId?: string
  parent?: string | null
  isError?: boolean
}

export function uses({
  tool,
  input,
  output,
  callId = uuid(),
  parent = null,
  isError = false,
}: Used): EventBody[] {
  return [
    { type: 'tool.started', callId, tool, input, parent },
    { type: 'tool.completed', callId, output, isError, parent, cut: 0 },
  ]
}
