import { setImmediate } from 'node:timers/promises'
import { existing, type EngineContext } from './context.ts'
import { CONVERSATION_TYPES, step, type Conversation } from './conversation/conversation.ts'
import type { Call, Change } from './conversation/item.ts'
import { conversationBefore } from './conversation/reader.ts'
import { CorralError } from './error.ts'
import type { Event, EventType, LoggedEvent } from './event.ts'
import type { Log } from './ports.ts'
import { kindOfAgent, startsAgent, titleOfCall } from './subagent.ts'
import type { Usage } from './usage.ts'

/** A sub-agent: the call that runs it, and what is told of that. */
export interface SubAgent {
  callId: string
  /** The call of the sub-agent that runs this one; null: the agent itself does. */
  parent: string | null
  title: string
  kind: string
  state: 'running' | 'done' | 'failed' | 'refused'
  startedAt: number
  endedAt: number | null
  /** Calls that it has made itself. */
  calls: number
  /** Null: the agent has not told. */
  usage: Usage | null
  openApprovals: number
}

/** The newest. */
const MAX_SUB_AGENTS = 500
const PAGE = 1000
const PAGE_BYTES = 4 * 1024 ** 2
/** What is looked at, from the newest event backwards. */
const MAX_EVENTS = 20_000
const MAX_BYTES = 16 * 1024 ** 2

const ENDS: readonly EventType[] = ['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled']

/** No pieces: a message that is complete says that somebody spoke, which is all that matters here. */
const TYPES = CONVERSATION_TYPES.filter((type) => type !== 'message.delta')

/** The sub-agents of a session, or of one of its turns; each after the one that runs it. */
export async function subAgents(
  context: EngineContext,
  sessionId: string,
  turnId?: string,
): Promise<SubAgent[]> {
  existing(context, sessionId)
  const { log } = context
  const whole = { after: 0, before: log.head + 1 }
  const range = turnId === undefined ? whole : rangeOf(log, sessionId, turnId)
  const events = await newestEvents(log, sessionId, range)
  const [first] = events
  if (!first) return []
  const seen = createSeen(conversationBefore(log, first))
  for (const logged of events) if (mayMatter(logged)) seen.take(logged.event)
  return ordered(seen.agents())
}

interface Range {
  after: number
  before: number
}

/** The part of the log that a turn is in. */
function rangeOf(log: Log, sessionId: string, turnId: string): Range {
  const turn = log.turn(turnId)
  if (turn?.sessionId !== sessionId) {
    throw new CorralError('turn_not_found', `No message has the id ${turnId}`, { id: turnId })
  }
  const ofTurn = { sessionId, turnId, after: turn.seq - 1, limit: 1 }
  const [start] = log.events({ ...ofTurn, types: ['turn.started'] })
  const [end] = log.events({ ...ofTurn, types: ENDS })
  // One that waits has done nothing yet.
  return { after: (start?.seq ?? log.head + 1) - 1, before: (end?.seq ?? log.head) + 1 }
}

/** In order, read from the newest one backwards. */
async function newestEvents(log: Log, sessionId: string, { after, before: end }: Range) {
  const pages: LoggedEvent[][] = []
  let [before, count, bytes] = [end, 0, 0]
  for (;;) {
    const page = log
      .events({ sessionId, before, types: TYPES, whole: true, limit: PAGE, maxBytes: PAGE_BYTES })
      .filter(({ seq }) => seq > after)
    const [first] = page
    pages.unshift(page)
    count += page.length
    bytes += page.reduce((sum, { json }) => sum + json.length, 0)
    if (!first || count >= MAX_EVENTS || bytes >= MAX_BYTES) return pages.flat()
    before = first.seq
    await setImmediate()
  }
}

/** What the agent itself says is most of a log. */
function mayMatter({ type, json }: LoggedEvent): boolean {
  return type !== 'message.completed' || json.includes('"parent":"')
}

interface SeenCall {
  call: Call
  endedAt: number | null
}

function createSeen(conversation: Conversation) {
  const calls = new Map<string, SeenCall>()
  /** Calls that something else names as its own, and when that was first heard of. */
  const parents = new Map<string, number>()
  for (const call of conversation.calls.values()) note(call, call.startedAt)

  function note(call: Call, at: number): void {
    const isOver = call.state !== 'asked' && call.state !== 'running'
    const known = calls.get(call.id)
    calls.set(call.id, { call, endedAt: isOver ? (known?.endedAt ?? at) : null })
    belongs(call.parent, at)
  }

  function belongs(parent: string | null, at: number): void {
    if (parent !== null && !parents.has(parent)) parents.set(parent, at)
  }

  function see(change: Change, at: number): void {
    if (change.type === 'call') note(change.call, at)
    else if (change.type === 'closed') belongs(change.message.parent, at)
    else if (change.type === 'asked') belongs(change.question.approval.parent, at)
  }

  return {
    take(event: Event): void {
      for (const change of step(conversation, event)) see(change, event.at)
    },
    agents: (): SubAgent[] => {
      const started = [...calls.values()]
        .filter(({ call }) => startsAgent(call.tool))
        .map(({ call }) => call.id)
      const ids = new Set([...parents.keys(), ...started])
      const open = [...conversation.questions.values()].filter(({ asked }) => asked)
      const below = Map.groupBy(calls.values(), ({ call }) => call.parent)
      return [...ids].map((id) => {
        const openApprovals = open.filter(({ approval }) => approval.parent === id).length
        return agentOf(id, calls.get(id), below.get(id) ?? [], parents.get(id) ?? 0, openApprovals)
      })
    },
  }
}

function agentOf(
  callId: string,
  own: SeenCall | undefined,
  its: readonly SeenCall[],
  heardAt: number,
  openApprovals: number,
): SubAgent {
  const call = own?.call ?? null
  const isBusy = [...(own ? [own] : []), ...its].some(({ endedAt }) => endedAt === null)
  const ends = [...its, ...(own ? [own] : [])].map(({ endedAt }) => endedAt ?? 0)
  return {
    callId,
    parent: call?.parent ?? null,
    title: call ? titleOfCall(call) : kindOfAgent(null, null),
    kind: kindOfAgent(call?.tool ?? null, call?.input),
    state: isBusy ? 'running' : stateOf(call),
    startedAt: call?.startedAt ?? heardAt,
    endedAt: isBusy ? null : Math.max(0, ...ends) || heardAt,
    calls: its.length,
    usage: call?.usage ?? null,
    openApprovals,
  }
}

function stateOf(call: Call | null): Exclude<SubAgent['state'], 'running'> {
  return call?.state === 'failed' || call?.state === 'refused' ? call.state : 'done'
}

function ordered(agents: readonly SubAgent[]): SubAgent[] {
  const newest = agents.toSorted((a, b) => a.startedAt - b.startedAt).slice(-MAX_SUB_AGENTS)
  const ids = new Set(newest.map(({ callId }) => callId))
  const below = Map.groupBy(newest, ({ parent }) => (parent !== null && ids.has(parent) ? parent : null))
  const list: SubAgent[] = []
  const left = below.get(null)?.toReversed() ?? []
  for (let agent = left.pop(); agent; agent = left.pop()) {
    list.push(agent)
    left.push(...(below.get(agent.callId)?.toReversed() ?? []))
  }
  return list
}
