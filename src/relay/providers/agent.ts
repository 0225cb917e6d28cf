import type { Engine } from '../../core/api.ts'
import type { CallResult } from '../../core/call.ts'
import type { CreateSession } from '../../core/command.ts'
import { CorralError } from '../../core/error.ts'
import type { Ask, Block, Message, Piece } from '../ask.ts'
import { refusalOf } from '../sessions/failures.ts'
import { follow } from '../sessions/follow.ts'
import { createSlots } from '../sessions/slots.ts'
import { groundsOf, newPart } from '../sessions/history.ts'
import { effortFor, modelFor, offered, type SessionSetup, sessionFor } from '../sessions/launch.ts'
import { promptOf, resultPart } from '../sessions/prompt.ts'
import type { Talk, Talks } from '../sessions/talks.ts'
import type { Briefing } from '../ports.ts'
import type { ModelCall, Provider } from './provider.ts'

interface AgentProviderDeps {
  engine: Engine
  talks: Talks
  setup: () => SessionSetup
  /** A call is about to need a process, whose agent is told this beforehand; null: more than this. */
  wanted: (told: Briefing | null) => void
  /** A session has been made; by the name that its caller has for it. */
  created: (sessionId: string) => void
  /** Why the agent cannot be asked; null when it can. */
  missing: () => Promise<string | null>
  now: () => number
  /** Turns that run at the same time; more wait. */
  maxActive: number
  maxWaiting: number
  /** Agents that wait for results of tools. */
  maxHeld: number
}

/** A turn to listen to. */
interface Begun {
  talk: Talk
  turnId: string
  after: number
  /** Results of calls that the agent has announced and not made yet. */
  results: Map<string, CallResult>
}

/**
 * The agent on this machine, as a provider. A call has all of its conversation: an agent that has heard the beginning of it
 * is told the rest, and for any other conversation there is a fresh one.
 */
export function createAgentProvider(deps: AgentProviderDeps): Provider {
  const slots = createSlots(deps.maxActive, deps.maxWaiting)
  return {
    get name() {
      return NAMES[deps.setup().agent] ?? deps.setup().agent
    },
    unavailable: deps.missing,
    async *answer(call) {
      let leave = (): void => {}
      try {
        leave = await slots.enter(call.signal)
        yield* listen(deps, call, await begin(deps, call))
      } catch (error) {
        throw error instanceof CorralError ? refusalOf(error, call.stickyId ?? call.id) : error
      } finally {
        leave()
      }
    },
  }
}

/** Whoever has heard of the conversation goes on with it; else a fresh agent is told all of it. */
async function begin(deps: AgentProviderDeps, { ask, stickyId }: ModelCall): Promise<Begun> {
  const { talks } = deps
  const holding = heldFor(deps, ask, stickyId)
  if (holding) return occupied(deps, holding, () => release(deps, holding, ask))
  const talk = stickyId === null ? null : talks.sticky(stickyId)
  const next = talk && newTo(deps, talk, ask)
  if (talk && next) return occupied(deps, talk, () => send(deps, talk, next, ask))
  if (talk) talks.drop(talk)
  const fresh = await created(deps, ask, stickyId)
  return occupied(deps, fresh, () => send(deps, fresh, ask.messages, ask))
}

async function created(deps: AgentProviderDeps, ask: Ask, stickyId: string | null): Promise<Talk> {
  const setup = deps.setup()
  const command = sessionFor(ask, setup, stickyId)
  deps.wanted(toldTo(command))
  const { id } = await deps.engine.sessions.create(command)
  const talk: Talk = {
    sessionId: id,
    stickyId,
    known: null,
    turnId: null,
    calls: [],
    grounds: groundsOf(ask),
    place: JSON.stringify(setup),
    busy: false,
    usedAt: deps.now(),
  }
  deps.talks.add(talk)
  deps.created(stickyId ?? id)
  return talk
}

/** From here to its end the agent is this call's. */
async function occupied(
  { talks }: AgentProviderDeps,
  talk: Talk,
  start: () => Promise<Begun>,
): Promise<Begun> {
  Object.assign(talk, { busy: true, known: null, calls: [] })
  try {
    return await start()
  } catch (error) {
    talks.drop(talk)
    throw error
  }
}

/** The caller's agent that waits for the very results that the last message brings. */
function heldFor({ engine, talks }: AgentProviderDeps, ask: Ask, stickyId: string | null): Talk | null {
  const ids = resultsIn(ask).map(({ toolUseId }) => toolUseId)
  const talk = ids.length > 0 ? talks.holding(ids[0]!) : null
  // Results that come a second time while the first ones are being brought go another way.
  if (!talk || talk.busy || talk.stickyId !== stickyId || runningTurn(engine, talk) !== talk.turnId)
    return null
  return talk.calls.length === ids.length && ids.every((id) => talk.calls.includes(id)) ? talk : null
}

/** What the agent has not heard of the conversation; null: it has heard another one. */
function newTo({ engine, setup }: AgentProviderDeps, talk: Talk, ask: Ask): Message[] | null {
  if (talk.place !== JSON.stringify(setup()) || talk.grounds !== groundsOf(ask)) return null
  if (!talk.known || runningTurn(engine, talk) !== null || lastTurn(engine, talk) !== talk.turnId) return null
  const next = newPart(talk.known, ask.messages)
  return next?.every(({ role }) => role === 'user') ? next : null
}

/** Undefined: somebody has removed the session. */
function runningTurn(engine: Engine, { sessionId }: Talk): string | null | undefined {
  try {
    return engine.sessions.get(sessionId).turn?.id ?? null
  } catch {
    return undefined
  }
}

/** Others may have spoken to the agent, too. */
function lastTurn(engine: Engine, { sessionId }: Talk): string | null {
  return engine.turns.list(sessionId, 1)[0]?.id ?? null
}

async function send(
  { engine, setup }: AgentProviderDeps,
  talk: Talk,
  messages: Message[],
  ask: Ask,
): Promise<Begun> {
  const { sessionId } = talk
  const { agent, model, effort } = engine.sessions.get(sessionId)
  const wanted = { model: modelFor(agent, ask.model), effort: effortFor(ask, setup()) }
  if (wanted.model !== model || wanted.effort !== effort)
    await engine.sessions.configure({ sessionId, ...wanted })
  const input = promptOf(fused(messages))
  const { turnId, seq } = await engine.turns.send({ sessionId, input, origin: 'relay' })
  return { talk, turnId, after: seq, results: new Map() }
}

/** Brings the results to the calls that wait for them: the same turn goes on. */
async function release({ engine }: AgentProviderDeps, talk: Talk, ask: Ask): Promise<Begun> {
  const { sessionId } = talk
  const after = engine.events.head
  const { turn, calls } = engine.sessions.get(sessionId)
  const results = resultsFor(ask)
  for (const [callId, result] of results) {
    if (!calls.some((call) => call.callId === callId && call.result === null)) continue
    results.delete(callId)
    await engine.turns.answerCall({ sessionId, callId, result })
  }
  return { talk, turnId: turn!.id, after, results }
}

async function* listen(
  deps: AgentProviderDeps,
  { id, ask, stickyId, signal }: ModelCall,
  begun: Begun,
): AsyncGenerator<Piece> {
  const { talk, turnId } = begun
  const calls: string[] = []
  const tools = new Set(offered(ask).map(({ name }) => name))
  const { sessionId } = talk
  let over = false
  try {
    const options = { ...begun, sessionId, tools, name: stickyId ?? id, thinking: ask.thinking, signal }
    for await (const piece of follow(deps.engine, options)) {
      if (piece.type === 'tool_use') calls.push(piece.id)
      if (piece.type === 'end') {
        over = true
        await settle(deps, talk, turnId, calls)
      }
      yield piece
    }
  } finally {
    // The caller has not heard all of it, so what the agent remembers is not what the caller does.
    if (!over) deps.talks.drop(talk)
  }
}

async function settle(deps: AgentProviderDeps, talk: Talk, turnId: string, calls: string[]): Promise<void> {
  const { talks, now } = deps
  Object.assign(talk, { turnId, calls, busy: false, usedAt: now() })
  if (talk.stickyId === null && calls.length === 0) return talks.drop(talk)
  // What a named session knows is noted when it is known what its caller has heard.
  if (talk.stickyId === null) await talks.save(talk)
  if (calls.length > 0) makeRoom(deps)
}

/** Whoever never brings results keeps a process waiting. The oldest ones go: should results come, they are told anew. */
function makeRoom({ talks, maxHeld }: AgentProviderDeps): void {
  const waiting = talks.list().filter(({ calls, busy }) => calls.length > 0 && !busy)
  waiting.sort((a, b) => b.usedAt - a.usedAt)
  for (const talk of waiting.slice(maxHeld)) talks.drop(talk)
}

function toldTo({ model = null, settings = {} }: CreateSession): Briefing | null {
  const { systemPrompt, clientTools = [] } = settings
  return systemPrompt === undefined || clientTools.length > 0 ? null : { systemPrompt, model }
}

/** What clients know the agents as. */
const NAMES: Readonly<Record<string, string>> = { claude: 'claude-pty' }

type Result = Block & { type: 'tool_result' }

function resultsIn({ messages }: Ask): Result[] {
  return messages.at(-1)!.content.filter((block): block is Result => block.type === 'tool_result')
}

/** What the user says beside the results is heard with the last one. */
function resultsFor(ask: Ask): Map<string, CallResult> {
  const results = resultsIn(ask)
  const beside = ask.messages.at(-1)!.content.filter(({ type }) => type !== 'tool_result')
  return new Map(
    results.map(({ toolUseId, content, isError }, at) => {
      const said = at === results.length - 1 && beside.length > 0 ? promptOf([user(beside)]) : []
      return [toolUseId, { content: [...content.map(resultPart), ...said], isError }]
    }),
  )
}

function user(content: Block[]): Message {
  return { role: 'user', content }
}

/** Several messages of the user's in a row are one to an agent. */
function fused(messages: Message[]): Message[] {
  return messages.every(({ role }) => role === 'user') && messages.length > 1
    ? [user(messages.flatMap(({ content }) => content))]
    : messages
}
