import type { Block, Message } from '../ask.ts'
import { Field } from './fields.ts'

/** It is kept with every record of a call. */
export const MAX_MODEL = 256
export const MAX_MESSAGES = 10_000
export const MAX_BLOCKS = 10_000

/** A message of the body, with the place of each block: for a tool's result, the place of the id that it names. */
export interface Placed {
  role: Message['role']
  path: string
  blocks: { block: Block; path: string }[]
}

/**
 * The conversation, or why it is none. Neighbours of the same role are one turn, as everywhere else. `named`: a session may know
 * what a lone message is about.
 */
export function turnsOf(messages: readonly Placed[], named = false): Message[] {
  if (messages.length === 0) throw new Field(messages, 'messages').wrong('must not be empty')
  const last = messages.at(-1)!
  if (last.role === 'assistant') {
    throw new Field(last, last.path).wrong(
      'must be a message of the user: an answer cannot be begun for the model',
    )
  }
  const turns = inTurns(
    messages.map(({ role, blocks }) => ({ role, content: blocks.map(({ block }) => block) })),
  )
  if (!named || turns.length > 1) checkCalls(messages)
  return turns
}

/** Neighbours of the same role are one turn; what says nothing is none. */
export function inTurns(messages: readonly Message[]): Message[] {
  const turns: Message[] = []
  for (const { role, content } of messages) {
    if (content.length === 0) continue
    const before = turns.at(-1)
    if (before?.role === role) turns[turns.length - 1] = { role, content: [...before.content, ...content] }
    else turns.push({ role, content })
  }
  return turns
}

/** The calls that a conversation ends with. */
export function openCalls(messages: readonly Message[]): string[] {
  const last = messages.at(-1)
  return last?.role === 'assistant' ? callsIn(last) : []
}

/** A session remembers calls that nobody has answered; an API refuses them without a result. */
export function withResults(messages: readonly Message[]): Message[] {
  return messages.map((message, at) => {
    const before = messages[at - 1]
    if (message.role !== 'user' || !before) return message
    const answered = new Set(
      message.content.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : [])),
    )
    const missing = callsIn(before).filter((id) => !answered.has(id))
    return { ...message, content: [...missing.map(noResult), ...message.content] }
  })
}

function callsIn({ content }: Message): string[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
}

function noResult(toolUseId: string): Block {
  const content = [{ type: 'text' as const, text: 'There is no result of this call.' }]
  return { type: 'tool_result', toolUseId, content, isError: true }
}

/** Every call has one result, in the turn that follows it; every result has its call in the turn before. */
function checkCalls(messages: readonly Placed[]): void {
  const seen = new Set<string>()
  const waiting = new Map<string, string>()
  let role: Message['role'] | null = null
  for (const message of messages) {
    if (message.role === 'assistant' && role === 'user') checkAnswered(waiting)
    for (const { block, path } of message.blocks) {
      if (block.type === 'tool_use') {
        if (seen.has(block.id))
          throw new Field(block, path).wrong(`has the id of another call: ${shown(block.id)}`)
        seen.add(block.id)
        waiting.set(block.id, path)
      } else if (block.type === 'tool_result' && !waiting.delete(block.toolUseId)) {
        const id = shown(block.toolUseId)
        throw new Field(block, path).wrong(`names no unanswered tool call of the message before: ${id}`)
      }
    }
    role = message.role
  }
  checkAnswered(waiting)
}

function checkAnswered(waiting: ReadonlyMap<string, string>): void {
  const [call] = waiting
  if (!call) return
  const [id, path] = call
  throw new Field(id, path).wrong(`is a tool call without a result in the message after it: ${shown(id)}`)
}

function shown(id: string): string {
  return JSON.stringify(id.slice(0, 100))
}
