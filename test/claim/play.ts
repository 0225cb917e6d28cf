import type { Approval } from '../../src/core/approval.ts'
import { textOf } from '../../src/core/content.ts'
import type { Event } from '../../src/core/event.ts'
import { NativeError } from '../../src/client/client.ts'
import { send as sendByCodecast, type Stream, type StreamEvent } from '../dialects/codecast/client.ts'
import {
  ENDLESS,
  HANG,
  scriptOf,
  type Act,
  type Answer,
  type Command,
  type Plan,
  type Station,
} from './plan.ts'
import { askRelay, type Relayed } from './relay.ts'
import type { Witness, World } from './world.ts'

/** A message that went through Codecast. */
export interface Streamed {
  key: string
  /** What the stream told; it is over when the daemon was killed or when the reader left. */
  events: StreamEvent[]
  ids: number[]
  reading: Promise<void>
}

/** What was played, to be read through all views. */
export interface Played {
  plan: Plan
  sessionId: string
  /** A session that branched off, and its parent before that. */
  forks: string[]
  streamed: Streamed[]
  /** What callers of the relay have sent and got. */
  relayed: Relayed[]
  /** When the last act began: a moment that retention may forget up to. */
  lastActAt: number
}

/** Plays a plan: commands wait for facts, so that the same plan makes the same session. */
export async function play(
  world: World,
  plan: Plan,
  watch: (sessionId: string) => Promise<void>,
): Promise<Played> {
  const relayed: Relayed[] = []
  const [sessionId, acts] = await begin(world, plan, relayed)
  await world.use(() => watch(sessionId))
  const played: Played = { plan, sessionId, forks: [], streamed: [], relayed, lastActAt: Date.now() }
  const player = createPlayer(world, sessionId)
  for (const [at, act] of acts.entries()) {
    played.lastActAt = Date.now()
    await playAct(world, player, played, act, `${plan.seed}, act ${at}`)
  }
  await Promise.all(played.streamed.map(({ reading }) => reading))
  return played
}

/** The session, and what is still to be done in it: the relay makes one for the first call. */
async function begin(
  world: World,
  plan: Plan,
  relayed: Relayed[],
): Promise<[sessionId: string, left: Act[]]> {
  const { native, daemon } = world
  const [first, ...rest] = plan.acts
  if (plan.relay === null || first?.act !== 'relay') {
    const settings = { agent: 'demo', cwd: daemon.project, mode: plan.mode }
    const { id } = await world.use(() => native.call('session.create', settings))
    return [id, plan.acts]
  }
  relayed.push(await world.use(() => askRelay(daemon, plan, first)))
  const { sessions } = await world.use(() => native.call('session.list', { limit: 500 }))
  return [sessions.find(({ title }) => title === `relay: ${plan.seed}`)!.id, rest]
}

type Player = ReturnType<typeof createPlayer>

async function playAct(world: World, player: Player, played: Played, act: Act, key: string): Promise<void> {
  const { native } = world
  const { sessionId, plan } = played
  switch (act.act) {
    case 'crash':
      return world.crash()
    case 'relay':
      played.relayed.push(await world.use(() => askRelay(world.daemon, plan, act)))
      return player.untilRest([])
    case 'compact':
      await player.sent(() => native.call('session.compact', { sessionId, key }))
      return player.untilRest([])
    case 'fork': {
      const { turns } = await world.use(() => native.call('turn.list', { sessionId }))
      const first = turns.findLast((turn) => turn.startedAt !== null && turn.endedAt !== null)
      const place = act.turn && first ? { turnId: first.id } : {}
      const fork = await world.use(() => native.call('session.fork', { sessionId, key, ...place }))
      played.forks.push(fork.id)
      const branch = createPlayer(world, fork.id)
      await branch.sent(() =>
        native.call('session.send', { sessionId: fork.id, content: '[[say branched]]' }),
      )
      return branch.untilRest([])
    }
    case 'turn': {
      const content = scriptOf(act.rounds)
      if (plan.codecast === null) {
        await player.sent(() => native.call('session.send', { sessionId, content, key }))
      } else {
        played.streamed.push(await world.use(() => streamedSend(world, sessionId, content, key, plan)))
        await player.arrived(key)
      }
      return player.untilRest(act.stations)
    }
  }
}

async function streamedSend(
  world: World,
  sessionId: string,
  content: string,
  key: string,
  plan: Plan,
): Promise<Streamed> {
  const wish = { key, follow: true, ids: true }
  const stream = await sendByCodecast(world.daemon.codecast, sessionId, content, wish)
  const streamed: Streamed = { key, events: [], ids: stream.ids, reading: Promise.resolve() }
  if (plan.codecast === 'live') streamed.reading = readAll(stream, streamed.events)
  else stream.cut()
  return streamed
}

async function readAll(stream: Stream, events: StreamEvent[]): Promise<void> {
  for (let event = await stream.next(); event; event = await stream.next()) events.push(event)
}

function createPlayer(world: World, sessionId: string) {
  const { native } = world
  const witness = world.witness(sessionId)
  const handled = new Set<string>()
  let known = 0

  const isAtRest = (): boolean => {
    const { turn, waiting } = witness.conversation
    return (witness.events.at(-1)?.seq ?? 0) >= known && turn === null && waiting.size === 0
  }
  const question = (): Approval | null => {
    for (const { approval, asked } of witness.conversation.questions.values()) {
      if (asked && !handled.has(approval.id)) return approval
    }
    return null
  }

  /** Refusals are answers, too: the session may have moved on. */
  async function tried<T>(work: () => Promise<T>): Promise<T | null> {
    return world.use(() =>
      work().catch((error: unknown) => {
        if (error instanceof NativeError) return null
        throw error
      }),
    )
  }

  async function sent(work: () => Promise<{ seq: number }>): Promise<void> {
    known = Math.max(known, (await tried(work))?.seq ?? 0)
  }

  async function queued(): Promise<string[]> {
    const answer = await tried(() => native.call('queue.list', { sessionId }))
    return answer?.turns.map(({ id }) => id) ?? []
  }

  async function command(one: Command): Promise<unknown> {
    switch (one.do) {
      case 'crash':
        return world.crash()
      case 'queue':
        return sent(() => native.call('session.send', { sessionId, content: one.text }))
      case 'steer':
        return sent(() => native.call('session.steer', { sessionId, content: one.text }))
      case 'cancel': {
        const turnId = (await queued()).at(-1)
        return turnId && tried(() => native.call('queue.remove', { sessionId, turnId }))
      }
      case 'move': {
        const turnId = (await queued()).at(-1)
        return turnId && tried(() => native.call('queue.move', { sessionId, turnId, position: 1 }))
      }
      case 'edit': {
        const turnId = (await queued()).at(-1)
        return turnId && tried(() => native.call('queue.edit', { sessionId, turnId, content: one.text }))
      }
      case 'bring': {
        const turnId = (await queued()).at(-1)
        return turnId && sent(() => native.call('queue.steer', { sessionId, turnId }))
      }
      case 'pause':
        await tried(() => native.call('session.pause', { sessionId }))
        return tried(() => native.call('session.resume', { sessionId }))
      case 'mode':
        return tried(() => native.call('session.configure', { sessionId, mode: one.mode }))
      case 'mark': {
        const marks = { readSeq: known, pinned: true, flags: ['red'], snoozedUntil: Date.now() + 60_000 }
        await tried(() => native.call('session.mark', { sessionId, ...marks }))
        return tried(() => native.call('session.mark', { sessionId, settled: true }))
      }
      case 'draft':
        return tried(() => native.call('draft.set', { sessionId, text: one.text }))
    }
  }

  async function answered(answer: Answer, approval: Approval | null): Promise<void> {
    if (answer === 'interrupt' || answer === 'clear' || approval === null) {
      await tried(() => native.call('session.interrupt', { sessionId, clearQueue: answer === 'clear' }))
      return
    }
    await tried(() =>
      native.call('approval.decide', { approvalId: approval.id, ...decisionOf(answer, approval) }),
    )
  }

  return {
    sent,
    /** A message of this key is in the log. */
    arrived: (key: string) =>
      witness.fact(`the message ${key}`, () =>
        witness.events.some((event) => event.type === 'turn.queued' && event.key === key),
      ),
    /** Does what the stations say, one wherever the agent waits, until nothing is left to do. */
    async untilRest(stations: readonly Station[]) {
      const left = [...stations]
      let hung = 0
      for (;;) {
        const hangs = (): boolean => isHanging(witness) > hung
        await witness.fact('a question, or rest', () => isAtRest() || question() !== null || hangs())
        const approval = question()
        if (isAtRest()) return
        hung = isHanging(witness)
        if (approval) handled.add(approval.id)
        const { before, answer } = left.shift() ?? { before: [], answer: 'allow' as const }
        for (const one of before) await command(one)
        await answered(answer, approval)
      }
    },
  }
}

type DecideParams =
  | { behavior: 'allow'; [field: string]: unknown }
  | { behavior: 'deny'; comment: string }
  | { behavior: 'respond'; text: string }

function decisionOf(answer: Answer, { kind, input }: Approval): DecideParams {
  if (answer === 'deny') return { behavior: 'deny', comment: 'not like this' }
  if (kind !== 'tool') {
    if (answer === 'respond') return { behavior: 'respond', text: 'in my own words' }
    return { behavior: 'allow', answers: { 'really?': 'Yes' } }
  }
  if (answer === 'respond') return { behavior: 'deny', comment: '' }
  if (answer === 'edit') return { behavior: 'allow', input: { ...(input as object), command: 'edited' } }
  return { behavior: 'allow', ...(answer === 'session' && { forSession: true }) }
}

/** The number of the event since which the agent hangs, or talks without an end; 0 when it does neither. */
function isHanging({ events, conversation }: Witness): number {
  if (conversation.turn === null || conversation.turn.interrupting) return 0
  let talks = false
  for (const event of events.toReversed()) {
    const script =
      event.type === 'turn.accepted'
        ? messageOf(event.turnId, events)
        : event.type === 'tool.completed'
          ? event.output
          : null
    if (script !== null) return script.endsWith(HANG) || (talks && script.endsWith(ENDLESS)) ? event.seq : 0
    if (event.type === 'message.delta' && event.kind === 'text') talks = true
    if (event.type === 'message.completed' && event.kind === 'text') return 0
    if (event.type === 'turn.started' || event.type === 'approval.requested') return 0
  }
  return 0
}

function messageOf(turnId: string, events: Witness['events']): string {
  const isOf = (event: Event): boolean =>
    (event.type === 'turn.queued' || event.type === 'turn.edited') && event.turnId === turnId
  const said = events.findLast(isOf)
  return said?.type === 'turn.queued' || said?.type === 'turn.edited' ? textOf(said.input) : ''
}
