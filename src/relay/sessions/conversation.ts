import type { Ask, Block, Message } from '../ask.ts'
import { invalid } from '../failure.ts'
import { inTurns, openCalls } from '../reading/turns.ts'
import { groundsOf, grown, type Known, newPart, NOTHING } from './history.ts'

/** What holds for a conversation beside what is said in it. */
export type Grounds = Pick<Ask, 'system' | 'tools' | 'toolChoice'>

/** What one call has added to a conversation. */
export interface Exchange {
  messages: Message[]
  /** As far as the caller was told. */
  answer: Block[]
  /** False: it may never have reached the caller, who may then ask the same again. */
  heard: boolean
}

/** What was said under a name, as its caller knows it. */
export interface Conversation {
  grounds: Grounds | null
  exchanges: Exchange[]
}

export const EMPTY: Conversation = { grounds: null, exchanges: [] }

/** A call that goes on with a conversation. */
export interface Continued {
  /** The call with everything that was said before. */
  ask: Ask
  /** How its exchange is added: behind the others, in place of the last one, or in place of all of them. */
  place: 'behind' | 'last' | 'all'
  /** The messages of the exchange. */
  added: Message[]
  /** What holds from now on; null: as before. */
  grounds: Grounds | null
}

/**
 * A call with one message goes on with what was said under its name; one with more tells all of it. Who asks the same again
 * after an answer that may not have arrived asks instead of the first time, not a second time.
 */
export function continued(conversation: Conversation, given: Ask): Continued {
  const lone = given.messages.length === 1
  const ask = lone && isBare(given) ? { ...given, ...conversation.grounds } : given
  const { system, tools, toolChoice } = ask
  const own = { system, tools, toolChoice }
  const isSame = conversation.grounds !== null && groundsOf(conversation.grounds) === groundsOf(own)
  const grounds = isSame ? null : own
  return { ...(lone ? goneOn : retold)(conversation, ask), grounds }
}

function goneOn(conversation: Conversation, ask: Ask): Omit<Continued, 'grounds'> {
  const last = conversation.exchanges.at(-1)
  const again = last?.heard === false && same(last.messages, ask.messages)
  const before = again ? withoutLast(conversation) : conversation
  const earlier = messagesOf(before)
  checkResults(openCalls(earlier), ask)
  const messages = inTurns([...earlier, ...ask.messages])
  const body = earlier.length > 0 ? { ...ask.body, partial: true as const } : ask.body
  return { ask: { ...ask, messages, body }, place: again ? 'last' : 'behind', added: ask.messages }
}

/** Results are of the calls that the session waits for, and of all of them. */
function checkResults(open: readonly string[], { messages }: Ask): void {
  const results = messages[0]!.content.flatMap((block) => (block.type === 'tool_result' ? [block] : []))
  const ids = results.map(({ toolUseId }) => toolUseId)
  const shown = (id: string): string => JSON.stringify(id.slice(0, 100))
  for (const [at, id] of ids.entries()) {
    if (open.includes(id) && ids.indexOf(id) === at) continue
    throw invalid('messages', `\`messages\` has a result that is of no unanswered tool call: ${shown(id)}`)
  }
  const missing = ids.length > 0 ? open.find((id) => !ids.includes(id)) : undefined
  if (missing !== undefined) {
    throw invalid('messages', `\`messages\` has no result of the tool call ${shown(missing)}`)
  }
}

function retold(conversation: Conversation, ask: Ask): Omit<Continued, 'grounds'> {
  const behind = newPart(knownOf(conversation), ask.messages)
  if (behind) return { ask, place: 'behind', added: behind }
  const doubtful = conversation.exchanges.at(-1)?.heard === false
  const instead = doubtful ? newPart(knownOf(withoutLast(conversation)), ask.messages) : null
  return instead ? { ask, place: 'last', added: instead } : { ask, place: 'all', added: ask.messages }
}

function withoutLast({ grounds, exchanges }: Conversation): Conversation {
  return { grounds, exchanges: exchanges.slice(0, -1) }
}

function knownOf(conversation: Conversation): Known {
  return grown(NOTHING, messagesOf(conversation))
}

export function messagesOf({ exchanges }: Conversation): Message[] {
  return inTurns(
    exchanges.flatMap(({ messages, answer }) => [...messages, { role: 'assistant', content: answer }]),
  )
}

function same(one: readonly Message[], other: readonly Message[]): boolean {
  return grown(NOTHING, one).hash === grown(NOTHING, other).hash
}

/** Who leaves out the rest of the conversation leaves out its grounds, too. */
function isBare({ system, tools }: Ask): boolean {
  return system === null && tools.length === 0
}
