import { setImmediate } from 'node:timers/promises'
import type { RequestPermissionOutcome, SessionUpdate } from '@agentclientprotocol/sdk/unstable'
import { emptyConversation, step } from '../../core/conversation/conversation.ts'
import type { Change } from '../../core/conversation/item.ts'
import type { AgentCommand, Event } from '../../core/event.ts'
import { createAsking, type Asking } from './asking.ts'
import { createChoice } from './choice.ts'
import { closedMeanwhile } from './errors.ts'
import type { Chosen } from './options.ts'
import type { Request } from './permission.ts'
import type { Corral, NamedModel, SessionView } from './port.ts'
import type { Prompts } from './prompts.ts'
import { commandsUpdate, endingOf, openCalls, remark, TYPES, updatesOf } from './updates.ts'

/** What can be said to the editor about one session. */
export interface Editor {
  update(update: SessionUpdate): Promise<void>
  ask(request: Request, signal: AbortSignal): Promise<RequestPermissionOutcome>
  /** It shows remarks that are no part of the conversation. */
  readonly notices: boolean
}

export interface OpenSessionParts {
  corral: Corral
  editor: Editor
  session: SessionView
  models: readonly NamedModel[]
  /** Up to here is the past. */
  until: number
  /** Whether the editor wants to hear it. */
  tellPast: boolean
  /** Those of the one that this one takes over from, if there is one. */
  prompts: Prompts
}

/** A session that an editor has open: all that happens in it is shown there, whoever makes it happen. */
export interface OpenSession {
  /** Resolves when the past has been told. */
  readonly ready: Promise<void>
  /** Resolves when nothing can be heard of the session any more. */
  readonly over: Promise<void>
  readonly prompts: Prompts
  /** As it is by now. */
  readonly chosen: Readonly<Chosen>
  /** Stops what the user sees running. */
  cancel(): Promise<void>
  close(): void
}

export function openSession(parts: OpenSessionParts): OpenSession {
  const { corral, editor, session, prompts } = parts
  const sessionId = session.id
  const choice = createChoice(parts)
  const asking = createAsking({
    cwd: session.cwd,
    ask: editor.ask,
    decide: corral.decide,
    tell: (text) => editor.update(remark(text)),
  })
  const events = corral.events({ sessionId, types: TYPES, onReset: () => prompts.recheck() })
  const { promise: ready, resolve: isReady, reject: isBroken } = Promise.withResolvers<void>()
  ready.catch(() => {})

  function close(): void {
    events.close()
    asking.close()
  }

  const over = follow(parts, { events, asking, choice, isReady }).then(
    () => isBroken(closedMeanwhile()),
    (error: unknown) => {
      isBroken(error)
      prompts.fail(error)
      close()
    },
  )

  return {
    ready,
    over,
    prompts,
    chosen: choice.chosen,
    async cancel() {
      if (!(await prompts.cancelAll())) await corral.interrupt(sessionId)
    },
    close,
  }
}

interface Following {
  events: AsyncIterable<Event>
  asking: Asking
  choice: ReturnType<typeof createChoice>
  isReady(): void
}

/** Shows the editor what was, if it wants to hear it, and then what happens. */
async function follow(
  parts: OpenSessionParts,
  { events, asking, choice, isReady }: Following,
): Promise<void> {
  const { editor, session, until, tellPast, prompts } = parts
  const { cwd } = session
  const conversation = emptyConversation()
  let live = false
  let commands: readonly AgentCommand[] = []

  async function tell(updates: readonly SessionUpdate[]): Promise<void> {
    if (live || tellPast) for (const update of updates) await editor.update(update)
  }

  /** Lets the answer to the editor's request go first: it cannot place anything about the session before. */
  async function goLive(): Promise<void> {
    live = true
    isReady()
    await setImmediate()
    if (!tellPast) await tell(openCalls(conversation, cwd))
    if (commands.length > 0) await tell([commandsUpdate(commands)])
    for (const { asked, approval } of conversation.questions.values()) if (asked) asking.ask(approval)
  }

  async function take(event: Event): Promise<void> {
    for (const change of step(conversation, event)) {
      if (!isKnown(change, prompts, live)) await tell(updatesOf(change, event, cwd))
      await tell(remarksOn(change, parts, live))
      mind(change, prompts, live ? asking : null)
    }
    await tell(await choice.step(event, live))
    if (event.type === 'agent.commands') {
      commands = event.commands
      if (live) await tell([commandsUpdate(commands)])
    }
    if (event.type === 'session.destroyed') throw new Error('The session was removed')
  }

  if (until === 0) await goLive()
  for await (const event of events) {
    if (!live && event.seq > until) await goLive()
    await take(event)
    if (!live && event.seq === until) await goLive()
  }
}

/** Of its own messages the editor knows, but for those that it has asked for again. */
function isKnown(change: Change, prompts: Prompts, live: boolean): boolean {
  return change.type === 'said' && live && prompts.has(change.message.id)
}

/** What is no part of the conversation itself. */
function remarksOn(change: Change, { editor, prompts }: OpenSessionParts, live: boolean): SessionUpdate[] {
  if (change.type === 'notice' && live && editor.notices) {
    return [{ sessionUpdate: 'notice', severity: change.level, title: change.message }]
  }
  if (change.type !== 'ended' || !change.end.error || prompts.has(change.end.turnId)) return []
  return [remark(`The turn failed: ${change.end.error.message}`)]
}

/** What follows from a change, beside what is shown of it. Questions of the past are asked when it has been told. */
function mind(change: Change, prompts: Prompts, asking: Asking | null): void {
  if (change.type === 'waits') prompts.queued(change.message.key, change.message.id)
  else if (change.type === 'said' && change.message.steer) prompts.joined(change.message.id, change.turn.id)
  else if (change.type === 'asked' && change.question.asked) asking?.ask(change.question.approval)
  else if (change.type === 'decided') asking?.takeBack(change.verdict.approvalId)
  const ended = endingOf(change)
  if (ended) prompts.ended(ended.turnId, ended.ending)
}
