import type { Turns } from './api.ts'
import { answerCall } from './call.ts'
import type { Interrupt, SendMessage, Sent, Steered, SteerTurn } from './command.ts'
import { compactMessage } from './compaction.ts'
import type { Content } from './content.ts'
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
    async answerCall({ sessionId, callId, result }) {
      await change(context, sessionId, (state) => answerCall(state, callId, result))
    },
    get: (id) => found(log.turn(id), 'turn_not_found', 'message', id),
    list(sessionId, limit, moment) {
      mustBeKnown(context, sessionId)
      return log.turns(sessionId, limit, moment)
    },
  }
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
