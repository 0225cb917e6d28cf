import { setImmediate } from 'node:timers/promises'
import type { RequestPermissionOutcome, SessionUpdate } from '@agentclientprotocol/sdk/unstable'
import type { Event } from '../../core/event.ts'
import { createAsking } from './asking.ts'
import { configOptions, type Chosen } from './options.ts'
import type { Request } from './permission.ts'
import type { Corral, NamedModel, SessionView } from './port.ts'
import type { Prompts } from './prompts.ts'
import { createTeller, endingOf, remark, TYPES, userMessage } from './updates.ts'

/** What can be said to the editor about one session. */
export interface Editor {
  update(update: SessionUpdate): Promise<void>
  ask(request: Request, signal: AbortSignal): Promise<RequestPermissionOutcome>
  /** It has a place for remarks that are no part of the conversation. */
  readonly notices: boolean
}

export interface RoomParts {
  corral: Corral
  editor: Editor
  session: SessionView
  models: readonly NamedModel[]
  /** Up to here is the past. */
  until: number
  /** Whether the editor wants to hear it. */
  tellPast: boolean
  /** Those of the room that this one takes over from, if there is one. */
  prompts: Prompts
}

/** A session that an editor has open: all that happens in it is shown there, whoever makes it happen. */
export interface Room {
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

export function openRoom(parts: RoomParts): Room {
  const { corral, editor, session, until, prompts } = parts
  const sessionId = session.id
  const { mode, model, modelInUse } = session
  const chosen: Chosen = { mode, model, modelInUse }
  const teller = createTeller(session.cwd)
  const asking = createAsking({
    cwd: session.cwd,
    ask: editor.ask,
    decide: corral.decide,
    tell: (text) => editor.update(remark(text)),
  })
  const events = corral.events({ sessionId, types: TYPES, onReset: prompts.recheck })
  const { promise: ready, resolve: isReady, reject: isBroken } = Promise.withResolvers<void>()
  ready.catch(() => {})
  let live = false

  /** Lets the answer to the editor's request go first: it cannot place anything about the session before. */
  async function goLive(): Promise<void> {
    live = true
    isReady()
    await setImmediate()
    if (!parts.tellPast) for (const update of teller.open()) await editor.update(update)
    asking.release()
  }

  async function follow(): Promise<void> {
    if (until === 0) await goLive()
    for await (const event of events) {
      if (!live && event.seq > until) await goLive()
      await take(event)
      if (!live && event.seq === until) await goLive()
    }
  }

  async function take(event: Event): Promise<void> {
    if (event.type === 'turn.queued') prompts.queued(event.key, event.turnId)
    const updates = [...(await said(event)), ...teller.step(event), ...beside(event), ...(await used(event))]
    if (live || parts.tellPast) for (const update of updates) await editor.update(update)
    if (event.type === 'approval.requested' && event.open) asking.requested(event.approval)
    if (event.type === 'approval.resolved') asking.resolved(event.approvalId)
    const ending = endingOf(event)
    if (ending) prompts.ended(event.turnId ?? '', ending)
    if (event.type === 'session.destroyed') throw new Error('The session was removed')
  }

  /** What somebody said: of its own messages the editor knows, but for those that it has asked for again. */
  async function said(event: Event): Promise<SessionUpdate[]> {
    if (event.type === 'turn.steer_accepted') return userMessage(event.steerId, event.input)
    if (event.type !== 'turn.started') return []
    if (live ? prompts.has(event.turnId) : !parts.tellPast) return []
    const input = await corral.turn(event.turnId).then(
      (turn) => turn.input,
      () => [],
    )
    return userMessage(event.turnId, input)
  }

  /** What is no part of the conversation itself. */
  function beside(event: Event): SessionUpdate[] {
    switch (event.type) {
      case 'session.changed':
        return changed(event)
      case 'turn.failed':
        return prompts.has(event.turnId) ? [] : [remark(`The turn failed: ${event.error.message}`)]
      case 'agent.notice':
        if (!live || !editor.notices) return []
        return [{ sessionUpdate: 'notice', severity: event.level, title: event.message }]
      default:
        return []
    }
  }

  function changed({ mode, model, title }: Extract<Event, { type: 'session.changed' }>): SessionUpdate[] {
    if (mode !== undefined) chosen.mode = mode
    if (model !== undefined) chosen.model = model
    if (model !== undefined && live) chosen.modelInUse = model
    // Of the past only the end counts, and that is in the answer to the request.
    if (!live) return []
    const updates: SessionUpdate[] = []
    if (mode !== undefined) updates.push({ sessionUpdate: 'current_mode_update', currentModeId: mode })
    if (mode !== undefined || model !== undefined) {
      updates.push({
        sessionUpdate: 'config_option_update',
        configOptions: configOptions(chosen, parts.models),
      })
    }
    if (title !== undefined) updates.push({ sessionUpdate: 'session_info_update', title })
    return updates
  }

  /** The agent has said which model it uses; of the past that is known already. */
  async function used(event: Event): Promise<SessionUpdate[]> {
    if (!live || (event.type !== 'agent.init' && event.type !== 'agent.model')) return []
    const now = await corral.session(sessionId).catch(() => null)
    if (!now || now.modelInUse === chosen.modelInUse) return []
    chosen.modelInUse = now.modelInUse
    return [{ sessionUpdate: 'config_option_update', configOptions: configOptions(chosen, parts.models) }]
  }

  function close(): void {
    events.close()
    asking.close()
  }

  const over = follow().then(
    () => isBroken(new Error('The session was closed')),
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
    chosen,
    async cancel() {
      if (!(await prompts.cancelAll())) await corral.interrupt(sessionId)
    },
    close,
  }
}
