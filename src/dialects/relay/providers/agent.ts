import type { Engine } from '../../../core/api.ts'
import type { CallResult } from '../../../core/call.ts'
import type { CreateSession } from '../../../core/command.ts'
import { CorralError } from '../../../core/error.ts'
import type { Ask, Block, Message, Piece } from '../ask.ts'
import { refusalOf } from '../sessions/failures.ts'
import { follow } from '../sessions/follow.ts'
import { createGate } from '../sessions/gate.ts'
import { groundsOf, newPart } from '../sessions/history.ts'
import { effortFor, modelFor, offered, type Place, sessionFor } from '../sessions/launch.ts'
import { promptOf, resultPart } from '../sessions/prompt.ts'
import type { Talk, Talks } from '../sessions/talks.ts'
import type { Told } from '../pool.ts'
import type { Call, Provider } from './provider.ts'

interface AgentProviderDeps {
  engine: Engine
  talks: Talks
  place: () => Place
  /** A call is about to need a process, whose agent is told this beforehand; null: more than this. */
  wanted: (told: Told | null) => void
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
  const { engine, talks, now } = deps
  const slots = createGate(deps.maxActive, deps.maxWaiting)

  async function begin({ ask, stickyId }: Call): Promise<Begun> {
    const holding = heldFor(ask, stickyId)
    if (holding) return occupied(holding, () => release(holding, ask))
    const talk = stickyId === null ? null : talks.sticky(stickyId)
    const place = deps.place()
    const next = talk && newTo(talk, ask, place)
    if (talk && next) return occupied(talk, () => send(talk, next, ask))
    if (talk) talks.drop(talk)
    const command = sessionFor(ask, place, stickyId)
    deps.wanted(toldTo(command))
    const { id } = await engine.sessions.create(command)
    const fresh: Talk = {
      sessionId: id,
      stickyId,
      known: null,
      turnId: null,
      calls: [],
      grounds: groundsOf(ask),
      place: JSON.stringify(place),
      busy: false,
      usedAt: now(),
    }
    talks.add(fresh)
    deps.created(stickyId ?? id)
    return occupied(fresh, () => send(fresh, ask.messages, ask))
  }

  /** From here to its end the agent is this call's. */
  async function occupied(talk: Talk, start: () => Promise<Begun>): Promise<Begun> {
    Object.assign(talk, { busy: true, known: null, calls: [] })
    try {
      return await start()
    } catch (error) {
      talks.drop(talk)
      throw error
    }
  }

  /** The caller's agent that waits for the very results that the last message brings. */
  function heldFor(ask: Ask, stickyId: string | null): Talk | null {
    const ids = resultsIn(ask).map(({ toolUseId }) => toolUseId)
    const talk = ids.length > 0 ? talks.holding(ids[0]!) : null
    // Results that come a second time while the first ones are being brought go another way.
    if (!talk || talk.busy || talk.stickyId !== stickyId || runningTurn(talk) !== talk.turnId) return null
    return talk.calls.length === ids.length && ids.every((id) => talk.calls.includes(id)) ? talk : null
  }

  /** What the agent has not heard of the conversation; null: it has heard another one. */
  function newTo(talk: Talk, ask: Ask, place: Place): Message[] | null {
    if (talk.place !== JSON.stringify(place) || talk.grounds !== groundsOf(ask)) return null
    if (!talk.known || runningTurn(talk) !== null || lastTurn(talk) !== talk.turnId) return null
    const next = newPart(talk.known, ask.messages)
    return next?.every(({ role }) => role === 'user') ? next : null
  }

  /** Undefined: somebody has removed the session. */
  function runningTurn({ sessionId }: Talk): string | null | undefined {
    try {
      return engine.sessions.get(sessionId).turn?.id ?? null
    } catch {
      return undefined
    }
  }

  /** Others may have spoken to the agent, too. */
  function lastTurn({ sessionId }: Talk): string | null {
    return engine.turns.list(sessionId, 1)[0]?.id ?? null
  }

  async function send(talk: Talk, messages: Message[], ask: Ask): Promise<Begun> {
    const { sessionId } = talk
    const { agent, model, effort } = engine.sessions.get(sessionId)
    const wanted = { model: modelFor(agent, ask.model), effort: effortFor(ask, deps.place()) }
    if (wanted.model !== model || wanted.effort !== effort)
      await engine.sessions.configure({ sessionId, ...wanted })
    const input = promptOf(fused(messages))
    const { turnId, seq } = await engine.turns.send({ sessionId, input, origin: 'relay' })
    return { talk, turnId, after: seq, results: new Map() }
  }

  /** Brings the results to the calls that wait for them: the same turn goes on. */
  async function release(talk: Talk, ask: Ask): Promise<Begun> {
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

  async function* listen({ id, ask, stickyId, signal }: Call, begun: Begun): AsyncGenerator<Piece> {
    const { talk, turnId } = begun
    const calls: string[] = []
    const tools = new Set(offered(ask).map(({ name }) => name))
    const { sessionId } = talk
    let over = false
    try {
      const options = { ...begun, sessionId, tools, name: stickyId ?? id, thinking: ask.thinking, signal }
      for await (const piece of follow(engine, options)) {
        if (piece.type === 'tool_use') calls.push(piece.id)
        if (piece.type === 'end') {
          over = true
          await settle(talk, turnId, calls)
        }
        yield piece
      }
    } finally {
      // The caller has not heard all of it, so what the agent remembers is not what the caller does.
      if (!over) talks.drop(talk)
    }
  }

  async function settle(talk: Talk, turnId: string, calls: string[]): Promise<void> {
    Object.assign(talk, { turnId, calls, busy: false, usedAt: now() })
    if (talk.stickyId === null && calls.length === 0) return talks.drop(talk)
    // What a named session knows is noted when it is known what its caller has heard.
    if (talk.stickyId === null) await talks.save(talk)
    if (calls.length > 0) makeRoom()
  }

  /** Whoever never brings results keeps a process waiting. The oldest ones go: should results come, they are told anew. */
  function makeRoom(): void {
    const waiting = talks.list().filter(({ calls, busy }) => calls.length > 0 && !busy)
    waiting.sort((a, b) => b.usedAt - a.usedAt)
    for (const talk of waiting.slice(deps.maxHeld)) talks.drop(talk)
  }

  return {
    get name() {
      return NAMES[deps.place().agent] ?? deps.place().agent
    },
    unavailable: deps.missing,
    async *answer(call) {
      let leave = (): void => {}
      try {
        leave = await slots.enter(call.signal)
        yield* listen(call, await begin(call))
      } catch (error) {
        throw error instanceof CorralError ? refusalOf(error, call.stickyId ?? call.id) : error
      } finally {
        leave()
      }
    },
  }
}

function toldTo({ model = null, settings = {} }: CreateSession): Told | null {
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
