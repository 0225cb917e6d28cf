import type { Engine } from '../../../core/api.ts'
import type { CreateSession } from '../../../core/command.ts'
import { CorralError } from '../../../core/error.ts'
import type { Ask, Block, Message, Piece } from '../ask.ts'
import { refusalOf } from '../sessions/failures.ts'
import { follow } from '../sessions/follow.ts'
import { createGate, createLanes } from '../sessions/gate.ts'
import { groundsOf, grown, newPart, NOTHING, type Known } from '../sessions/history.ts'
import { modelFor, offered, type Place, sessionFor } from '../sessions/launch.ts'
import { promptOf, resultPart } from '../sessions/prompt.ts'
import { callsOf, type Talk, type Talks } from '../sessions/talks.ts'
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
}

/** Agents that wait for results of tools, for each turn that may run. */
const HELD_PER_PLACE = 4

/** A turn to listen to. */
interface Begun {
  talk: Talk
  turnId: string
  after: number
  /** What the agent had before this call's messages, as its caller sees it. */
  before: Known
}

/** The agent on this machine, as a provider: one session per sticky id, a fresh one for every other call. */
export function createAgentProvider(deps: AgentProviderDeps): Provider {
  const { engine, talks, now } = deps
  const slots = createGate(deps.maxActive, deps.maxWaiting)
  const lanes = createLanes(deps.maxWaiting)

  async function begin({ ask, stickyId }: Call): Promise<Begun> {
    const holding = heldFor(ask, stickyId)
    if (holding) return occupied(holding, () => release(holding, ask))
    const talk = stickyId === null ? null : talks.sticky(stickyId)
    const place = deps.place()
    const goesOn = talk && part(talk, ask, place)
    if (talk && goesOn) return occupied(talk, () => send(talk, goesOn.before, goesOn.messages, ask))
    if (talk) talks.drop(talk)
    const command = sessionFor(ask, place, stickyId)
    deps.wanted(toldTo(command))
    const { id } = await engine.create(command)
    const fresh: Talk = {
      sessionId: id,
      stickyId,
      known: NOTHING,
      grounds: groundsOf(ask),
      place: JSON.stringify(place),
      busy: false,
      held: false,
      usedAt: now(),
    }
    talks.add(fresh)
    deps.created(stickyId ?? id)
    return occupied(fresh, () => send(fresh, NOTHING, ask.messages, ask))
  }

  /** From here to its end the conversation is this call's. */
  async function occupied(talk: Talk, start: () => Promise<Begun>): Promise<Begun> {
    talk.busy = true
    try {
      return await start()
    } catch (error) {
      await abandon(talk)
      throw error
    }
  }

  /** The caller's conversation whose agent waits for all the results that the last message brings. */
  function heldFor(ask: Ask, stickyId: string | null): Talk | null {
    const ids = resultsIn(ask).map(({ toolUseId }) => toolUseId)
    const talk = ids.length > 0 ? talks.holding(ids[0]!) : null
    // Results that come a second time while the first ones are being brought go another way.
    if (!talk || talk.busy || talk.stickyId !== stickyId) return null
    const open = callsOf(engine, talk)
    return open.length === ids.length && ids.every((id) => open.includes(id)) ? talk : null
  }

  /** What of the call is new to the conversation; null: it is another one. */
  function part(talk: Talk, ask: Ask, place: Place): { before: Known; messages: Message[] } | null {
    if (talk.place !== JSON.stringify(place)) return null
    if (!talk.known || !isThere(talk) || callsOf(engine, talk).length > 0) return null
    const { known } = talk
    const next = talk.grounds === groundsOf(ask) ? newPart(known, ask.messages) : null
    if (next?.every(({ role }) => role === 'user')) return { before: NOTHING, messages: next }
    // A lone message goes on with what was said, whoever leaves out the rest of it leaves out the grounds, too.
    const lone = ask.messages.length === 1 && (talk.grounds === groundsOf(ask) || isBare(ask))
    return lone ? { before: known, messages: ask.messages } : null
  }

  function isThere({ sessionId }: Talk): boolean {
    try {
      return engine.session(sessionId).turn === null
    } catch {
      return false
    }
  }

  async function send(talk: Talk, before: Known, messages: Message[], ask: Ask): Promise<Begun> {
    const { sessionId } = talk
    const { agent, model } = engine.session(sessionId)
    const wanted = modelFor(agent, ask.model)
    if (wanted !== model) await engine.configure({ sessionId, model: wanted })
    const input = promptOf(fused(messages))
    const { turnId, seq } = await engine.send({ sessionId, input, origin: 'relay' })
    return { talk, turnId, after: seq, before }
  }

  /** Brings the results to the calls that wait for them: the same turn goes on. */
  async function release(talk: Talk, ask: Ask): Promise<Begun> {
    const { sessionId } = talk
    const after = engine.head
    const turnId = engine.session(sessionId).turn!.id
    const results = resultsIn(ask)
    const beside = ask.messages.at(-1)!.content.filter(({ type }) => type !== 'tool_result')
    for (const [at, { toolUseId, content, isError }] of results.entries()) {
      const said = at === results.length - 1 && beside.length > 0 ? promptOf([user(beside)]) : []
      const result = { content: [...content.map(resultPart), ...said], isError }
      await engine.answerCall({ sessionId, callId: toolUseId, result })
    }
    return { talk, turnId, after, before: NOTHING }
  }

  async function* listen(
    { ask, signal }: Call,
    { talk, turnId, after, before }: Begun,
  ): AsyncGenerator<Piece> {
    const said: Block[] = []
    const tools = new Set(offered(ask).map(({ name }) => name))
    let over = false
    try {
      const options = { sessionId: talk.sessionId, turnId, after, tools, thinking: ask.thinking, signal }
      for await (const piece of follow(engine, options)) {
        if (piece.type === 'text' || piece.type === 'tool_use') said.push(piece)
        if (piece.type === 'end') {
          over = true
          const known = grown(before, [...ask.messages, { role: 'assistant', content: said }])
          await settle(talk, known, piece.stopReason === 'tool_use')
        }
        yield piece
      }
    } finally {
      if (!over) await abandon(talk)
    }
  }

  async function settle(talk: Talk, known: Known, held: boolean): Promise<void> {
    Object.assign(talk, { known, held, busy: false })
    if (talk.stickyId === null && !held) return talks.drop(talk)
    await talks.save(talk)
    if (held) makeRoom()
  }

  /** Whoever never brings results keeps a process waiting. The oldest ones go: should results come, they are told anew. */
  function makeRoom(): void {
    const waiting = talks.list().filter(({ held, busy }) => held && !busy)
    waiting.sort((a, b) => b.usedAt - a.usedAt)
    for (const talk of waiting.slice(deps.maxActive * HELD_PER_PLACE)) talks.drop(talk)
  }

  /** The caller has not heard all of it, so what the agent remembers is not what the caller does. */
  async function abandon(talk: Talk): Promise<void> {
    if (talk.stickyId === null) return talks.drop(talk)
    Object.assign(talk, { known: null, held: false, busy: false })
    const { sessionId } = talk
    await Promise.allSettled([talks.save(talk), engine.interrupt({ sessionId })])
  }

  return {
    get name() {
      return NAMES[deps.place().agent] ?? deps.place().agent
    },
    unavailable: deps.missing,
    async *answer(call) {
      const leavers: (() => void)[] = []
      try {
        if (call.stickyId !== null) leavers.push(await lanes.enter(call.stickyId, call.signal))
        leavers.push(await slots.enter(call.signal))
        yield* listen(call, await begin(call))
      } catch (error) {
        throw error instanceof CorralError ? refusalOf(error) : error
      } finally {
        for (const leave of leavers) leave()
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

function isBare({ system, tools }: Ask): boolean {
  return system === null && tools.length === 0
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
