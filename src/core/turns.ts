import type { Turns } from './api.ts'
import { answerCall } from './call.ts'
import type { EditTurn, Interrupt, SendMessage, Sent, Steered, SteerTurn } from './command.ts'
import { compactMessage } from './compaction.ts'
import { MAX_CONTENT, sizeOf, type Content } from './content.ts'
import * as decide from './decide.ts'
import { CorralError } from './error.ts'
import type { EventBody, EventOf, EventType } from './event.ts'
import { EXTERNAL_AGENT } from './external.ts'
import {
  change,
  existing,
  found,
  mustBeKnown,
  needs,
  once,
  refuseWhenClosing,
  type EngineContext,
} from './context.ts'
import type { Log, Write } from './ports.ts'
import { editTurn, steerTurn } from './queueing.ts'
import { subAgents } from './subagents.ts'
import type { Turn } from './turn.ts'
import { usageSeries } from './usage-series.ts'

/** The noun `turns` of the engine. */
export function createTurns(context: EngineContext): Turns {
  const { log } = context
  const sendOnce = (command: SendMessage): Promise<Sent> =>
    once(context, command.key && `send ${command.sessionId} ${command.key}`, () => send(context, command))
  return {
    send: sendOnce,
    steer: (command) =>
      once(context, command.key && `steer ${command.sessionId} ${command.key}`, () =>
        steer(context, command),
      ),
    async compact(command) {
      needs(context, existing(context, command.sessionId).agent, 'compact')
      return sendOnce({ ...command, input: compactMessage() })
    },
    interrupt: (command) => interrupt(context, command),
    async cancel(sessionId, turnId) {
      await change(context, sessionId, (state) => decide.cancelTurn(state, turnId))
    },
    async move(sessionId, turnId, position) {
      await change(context, sessionId, (state) => decide.moveTurn(state, turnId, position))
      return existing(context, sessionId).queue
    },
    edit: (command) => edit(context, command),
    steerQueued: (sessionId, turnId) => steerQueued(context, sessionId, turnId),
    async answerCall({ sessionId, callId, result }) {
      await change(context, sessionId, (state) => answerCall(state, callId, result))
    },
    get: (id) => turnIn(log, id),
    subAgents: (sessionId, turnId) => subAgents(context, sessionId, turnId),
    usage: (query) => usageSeries(context, query),
    list(sessionId, limit, moment) {
      mustBeKnown(context, sessionId)
      return log.turns(sessionId, limit, moment)
    },
  }
}

function turnIn(log: Log, id: string): Turn {
  return found(log.turn(id), 'turn_not_found', 'message', id)
}

/** A message has become an event. */
const ADMITTED: readonly EventType[] = ['turn.queued', 'turn.steered']

async function send(context: EngineContext, command: SendMessage): Promise<Sent> {
  const { log, drafts, newId, maxQueue } = context
  const { sessionId, input } = command
  const { agent } = existing(context, sessionId)
  const known = sentBefore(context, command)
  if (known) {
    await log.append({ events: [], writes: bookmarkOf(command, known) })
    return known
  }
  refuseWhenClosing(context)
  mustHear(context, agent, input)
  const turnId = newId()
  const bodies = decide.send(existing(context, sessionId), turnId, command, maxQueue)
  const steered = bodies.find((body) => body.type === 'turn.steered')
  if (steered) needs(context, agent, 'steer')
  const draft = drafts.of(sessionId)
  const seq = draft.add(...bodies) + bodies.findIndex(({ type }) => ADMITTED.includes(type))
  const sent: Sent = steered
    ? asSent({ steerId: turnId, turnId: steered.turnId, seq, repeated: false })
    : { turnId, position: placeOf(context, turnId, sessionId), seq, repeated: false }
  draft.add(...commentsOf(command, sent))
  draft.write(...bookmarkOf(command, sent))
  await draft.commit()
  return sent
}

/** In the same commit as the message. */
function commentsOf({ comments = [] }: SendMessage, { turnId, steered = turnId }: Sent): EventBody[] {
  return comments.length > 0 ? [{ type: 'review.sent', commentIds: [...comments], turnId: steered }] : []
}

/** In the same commit as the message. */
function bookmarkOf({ bookmark: owner, sessionId }: SendMessage, { turnId, seq, steered }: Sent): Write[] {
  if (owner === undefined || steered !== undefined) return []
  return [{ op: 'bookmark', bookmark: { owner, sessionId, turnId, seq: seq - 1 } }]
}

/** What became of the message that came with this key before. */
function sentBefore(context: EngineContext, { sessionId, key, busy }: SendMessage): Sent | null {
  if (key === undefined) return null
  const { log } = context
  const turn = log.turnByKey(sessionId, key)
  if (turn) {
    const position = placeOf(context, turn.id, sessionId)
    return { turnId: turn.id, position, seq: turn.seq, repeated: true }
  }
  const steered = busy === 'steer' ? steerByKey(log, sessionId, key) : null
  return steered && asSent({ ...steered, repeated: true })
}

function placeOf(context: EngineContext, turnId: string, sessionId: string): number {
  const { turn, queue } = existing(context, sessionId)
  return turn?.id === turnId ? 0 : queue.indexOf(turnId) + 1
}

function asSent({ steerId, turnId, seq, repeated }: Steered): Sent {
  return { turnId: steerId, position: 0, seq, repeated, steered: turnId }
}

async function steer(context: EngineContext, command: SteerTurn): Promise<Steered> {
  const { sessionId, key, input } = command
  const { agent } = existing(context, sessionId)
  const known = key === undefined ? null : steerByKey(context.log, sessionId, key)
  if (known) return { ...known, repeated: true }
  refuseWhenClosing(context)
  mustHear(context, agent, input)
  needs(context, agent, 'steer')
  const steerId = context.newId()
  const draft = context.drafts.of(sessionId)
  const bodies = decide.steer(draft.state, steerId, command, context.maxQueue)
  const seq = draft.add(...bodies)
  await draft.commit()
  return { steerId, turnId: (bodies[0] as EventOf<'turn.steered'>).turnId, seq, repeated: false }
}

/** The newest edit of a message that is on its way to the log. */
const editKey = (turnId: string): string => `edit ${turnId}`

async function edit(context: EngineContext, { sessionId, turnId, input }: EditTurn): Promise<Turn> {
  const { inFlight, log } = context
  mustHear(context, existing(context, sessionId).agent, input)
  const edited = change(context, sessionId, (state) => editTurn(state, turnId, input))
  const key = editKey(turnId)
  inFlight.set(key, edited)
  await edited.finally(() => inFlight.get(key) === edited && inFlight.delete(key))
  return turnIn(log, turnId)
}

async function steerQueued(context: EngineContext, sessionId: string, turnId: string): Promise<Steered> {
  const { inFlight, log, drafts } = context
  const { agent } = existing(context, sessionId)
  // What it says is read from the log.
  for (let edited = inFlight.get(editKey(turnId)); edited; edited = inFlight.get(editKey(turnId))) {
    await edited.catch(() => {})
  }
  const { queue } = existing(context, sessionId)
  const known = queue.includes(turnId) ? null : await steeredBefore(context, sessionId, turnId)
  if (known) return { ...known, repeated: true }
  refuseWhenClosing(context)
  needs(context, agent, 'steer')
  const draft = drafts.of(sessionId)
  const bodies = steerTurn(draft.state, turnIn(log, turnId), context.maxQueue)
  const running = draft.state.turn!.id
  const seq = draft.add(...bodies) + 1
  await draft.commit()
  return { steerId: turnId, turnId: running, seq, repeated: false }
}

/** What became of a message that does not wait: whether it was made a steer, maybe by a call that is not committed yet. */
async function steeredBefore(context: EngineContext, sessionId: string, turnId: string) {
  const { log } = context
  await log.append({ events: [], writes: [] })
  const ofTurn = { sessionId, turnId, types: ['turn.cancelled'] satisfies EventType[] }
  const [last] = log.events({ ...ofTurn, before: log.head + 1, limit: 1 })
  if (last?.event.type !== 'turn.cancelled' || last.event.steered === undefined) return null
  return { steerId: turnId, turnId: last.event.steered, seq: last.seq + 1 }
}

/** A message to a running turn that came with this key before. */
function steerByKey(log: Log, sessionId: string, key: string): Omit<Steered, 'repeated'> | null {
  for (let after = 0; ;) {
    const page = log.events({ sessionId, after, types: ['turn.steered'], limit: 1000 })
    for (const { seq, event } of page) {
      if (event.type !== 'turn.steered' || event.key !== key) continue
      return { steerId: event.steerId, turnId: event.turnId, seq }
    }
    if (page.length < 1000) return null
    after = page.at(-1)!.seq
  }
}

/** What an agent cannot be told is refused before anything is written down. */
function mustHear(context: EngineContext, agent: string, input: Content[]): void {
  if (agent === EXTERNAL_AGENT) {
    throw new CorralError(
      'unsupported',
      'This agent runs outside of Corral and takes no messages; you can only decide its approvals',
    )
  }
  if (sizeOf(input) > MAX_CONTENT) {
    const message = 'content: a message may have 32 MiB; put the rest into a file that the agent can read'
    throw new CorralError('invalid', message, { field: 'content' })
  }
  if (input.some((part) => part.type === 'image')) needs(context, agent, 'images')
  if (input.some((part) => part.type === 'document')) needs(context, agent, 'documents')
}

async function interrupt(
  context: EngineContext,
  { sessionId, turnId, clearQueue = false, reason }: Interrupt,
): Promise<{ interrupted: boolean; cancelled: string[] }> {
  const events = await change(context, sessionId, (state) =>
    turnId === undefined
      ? decide.interrupt(state, clearQueue, reason)
      : decide.interruptTurn(state, turnId, clearQueue),
  )
  const cancelled = events.flatMap(({ event }) => (event.type === 'turn.cancelled' ? [event.turnId] : []))
  return { interrupted: events.some(({ type }) => type === 'turn.interrupting'), cancelled }
}
