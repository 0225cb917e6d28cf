import type { Turns } from './api.ts'
import { answerCall } from './call.ts'
import type { Interrupt, SendMessage, Sent, Steered, SteerTurn } from './command.ts'
import { compactMessage } from './compaction.ts'
import type { Content } from './content.ts'
import * as decide from './decide.ts'
import { CorralError } from './error.ts'
import type { EventOf, EventType } from './event.ts'
import { EXTERNAL_AGENT } from './external.ts'
import { change, existing, found, mustBeKnown, needs, once, refuseWhenClosing, type Heart } from './heart.ts'
import type { Log, Write } from './ports.ts'

/** The noun `turns` of the engine. */
export function createTurns(heart: Heart): Turns {
  const { log } = heart
  const sendOnce = (command: SendMessage): Promise<Sent> =>
    once(heart, command.key && `send ${command.sessionId} ${command.key}`, () => send(heart, command))
  return {
    send: sendOnce,
    steer: (command) =>
      once(heart, command.key && `steer ${command.sessionId} ${command.key}`, () => steer(heart, command)),
    async compact(command) {
      needs(heart, existing(heart, command.sessionId).agent, 'compact')
      return sendOnce({ ...command, input: compactMessage() })
    },
    interrupt: (command) => interrupt(heart, command),
    async cancel(sessionId, turnId) {
      await change(heart, sessionId, (state) => decide.cancelTurn(state, turnId))
    },
    async move(sessionId, turnId, position) {
      await change(heart, sessionId, (state) => decide.moveTurn(state, turnId, position))
      return existing(heart, sessionId).queue
    },
    async answerCall({ sessionId, callId, result }) {
      await change(heart, sessionId, (state) => answerCall(state, callId, result))
    },
    get: (id) => found(log.turn(id), 'turn_not_found', 'message', id),
    list(sessionId, limit, moment) {
      mustBeKnown(heart, sessionId)
      return log.turns(sessionId, limit, moment)
    },
  }
}

/** A message has become an event. */
const ADMITTED: readonly EventType[] = ['turn.queued', 'turn.steered']

async function send(heart: Heart, command: SendMessage): Promise<Sent> {
  const { log, drafts, newId, maxQueue } = heart
  const { sessionId, input } = command
  const { agent } = existing(heart, sessionId)
  const known = sentBefore(heart, command)
  if (known) {
    await log.append({ events: [], writes: bookmarkOf(command, known) })
    return known
  }
  refuseWhenClosing(heart)
  mustHear(heart, agent, input)
  const turnId = newId()
  const bodies = decide.send(existing(heart, sessionId), turnId, command, maxQueue)
  const steered = bodies.find((body) => body.type === 'turn.steered')
  if (steered) needs(heart, agent, 'steer')
  const draft = drafts.of(sessionId)
  const seq = draft.add(...bodies) + bodies.findIndex(({ type }) => ADMITTED.includes(type))
  const sent: Sent = steered
    ? asSent({ steerId: turnId, turnId: steered.turnId, seq, repeated: false })
    : { turnId, position: placeOf(heart, turnId, sessionId), seq, repeated: false }
  draft.write(...bookmarkOf(command, sent))
  await draft.commit()
  return sent
}

/** In the same commit as the message. */
function bookmarkOf({ bookmark: owner, sessionId }: SendMessage, { turnId, seq, steered }: Sent): Write[] {
  if (owner === undefined || steered !== undefined) return []
  return [{ op: 'bookmark', bookmark: { owner, sessionId, turnId, seq: seq - 1 } }]
}

/** What became of the message that came with this key before. */
function sentBefore(heart: Heart, { sessionId, key, busy }: SendMessage): Sent | null {
  if (key === undefined) return null
  const { log } = heart
  const turn = log.turnByKey(sessionId, key)
  if (turn) {
    const position = placeOf(heart, turn.id, sessionId)
    return { turnId: turn.id, position, seq: turn.seq, repeated: true }
  }
  const steered = busy === 'steer' ? steerByKey(log, sessionId, key) : null
  return steered && asSent({ ...steered, repeated: true })
}

function placeOf(heart: Heart, turnId: string, sessionId: string): number {
  const { turn, queue } = existing(heart, sessionId)
  return turn?.id === turnId ? 0 : queue.indexOf(turnId) + 1
}

function asSent({ steerId, turnId, seq, repeated }: Steered): Sent {
  return { turnId: steerId, position: 0, seq, repeated, steered: turnId }
}

async function steer(heart: Heart, command: SteerTurn): Promise<Steered> {
  const { sessionId, key, input } = command
  const { agent } = existing(heart, sessionId)
  const known = key === undefined ? null : steerByKey(heart.log, sessionId, key)
  if (known) return { ...known, repeated: true }
  refuseWhenClosing(heart)
  mustHear(heart, agent, input)
  needs(heart, agent, 'steer')
  const steerId = heart.newId()
  const draft = heart.drafts.of(sessionId)
  const bodies = decide.steer(draft.state, steerId, command, heart.maxQueue)
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
function mustHear(heart: Heart, agent: string, input: Content[]): void {
  if (agent === EXTERNAL_AGENT) {
    throw new CorralError(
      'unsupported',
      'This agent runs outside of Corral and takes no messages; you can only decide its approvals',
    )
  }
  if (input.some((part) => part.type === 'image')) needs(heart, agent, 'images')
  if (input.some((part) => part.type === 'document')) needs(heart, agent, 'documents')
}

async function interrupt(
  heart: Heart,
  { sessionId, turnId, clearQueue = false, reason }: Interrupt,
): Promise<{ interrupted: boolean; cancelled: string[] }> {
  const events = await change(heart, sessionId, (state) =>
    turnId === undefined
      ? decide.interrupt(state, clearQueue, reason)
      : decide.interruptTurn(state, turnId, clearQueue),
  )
  const cancelled = events.flatMap(({ event }) => (event.type === 'turn.cancelled' ? [event.turnId] : []))
  return { interrupted: events.some(({ type }) => type === 'turn.interrupting'), cancelled }
}
